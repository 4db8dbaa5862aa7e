import { expect, test } from 'vitest';
import { bytes, duration, plain, plainLine, quoted, stateName } from '../src/text.ts';
import { commandFor } from '../src/run/actions.tsx';
import { link, parse } from '../src/url.ts';

test('what would be hidden in a name is shown', () => {
  expect(plain('a\u202eb\u0000\n\u200bé<img>')).toBe('a\\u{202e}b\\u{0}\\u{a}\\u{200b}é<img>');
  expect(plainLine('\tx\u2066')).toBe('\tx\\u{2066}');
});

test('numbers are written as people say them', () => {
  expect([0, 1023, 1024, 5 << 20].map(bytes)).toEqual(['0 B', '1023 B', '1.0 KiB', '5.0 MiB']);
  expect([5, 1_500, 25_000, 8_200_000, 61_000_000].map(duration)).toEqual(['5 µs', '1.5 ms', '25 ms', '8.2 s', '1 min 1 s']);
});

test('states have names', () => {
  const snapshot = { id: 'x', short: 'x', tag: 'first' } as never;
  expect(['@', 'empty', 'fork:try', 'op:7^', 'op:7', 'x'].map((it) => stateName(it, [snapshot])))
    .toEqual(['now', 'the beginning', 'fork try', 'before operation 7', 'after operation 7', 'first']);
});

test('commands are quoted for a shell', () => {
  expect(quoted("it's; rm")).toBe("'it'\\''s; rm'");
  const snapshots = [{ id: '0123abcd-0000-4000-8000-000000000000', short: '7f3k2mzq' } as never];
  expect(commandFor('/my work', '0123abcd-0000-4000-8000-000000000000', '@', 'a b', snapshots)).toBe("wink -C '/my work' diff 7f3k2mzq -- 'a b'");
  expect(commandFor(null, 'op:3^', 'op:3', 'x', snapshots)).toBe('wink op show 3');
});

test('every view has an address', () => {
  const to = link('run', 'my run', { ev: '4', file: 'a&b/c', line: undefined });
  expect(to).toBe('/run/my%20run?ev=4&file=a%26b%2Fc');
  const [path = '', search = ''] = to.split('?');
  expect(parse(path, `?${search}`)).toEqual({ screen: 'run', run: 'my run', query: { ev: '4', file: 'a&b/c' } });
  expect(parse('/', '').screen).toBe('home');
  expect(parse('/run/%E0%A4%A', '').run).toBe('%E0%A4%A');
});
