// What the modules look at when they are loaded; the tests here need no browser.
import { vi } from 'vitest';

vi.stubGlobal('location', { pathname: '/', search: '' });
vi.stubGlobal('addEventListener', () => {});
