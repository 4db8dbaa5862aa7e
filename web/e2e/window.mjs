// Drives the real page in a real browser: every screen and action, in both themes, and what it must reach.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, browser, call, cleanUp, env, measure, open, place, report, run, start, wink } from './support.mjs';
import * as large from './large.mjs';

const images = process.env.WINK_IMAGES;
const only = process.argv[2];
const tests = [];
const test = (name, work) => tests.push({ name, work });

const wait = (page, what, argument) => page.waitForFunction(what, argument, { timeout: 15_000, polling: 'raf' });
const shoot = async (page, name) => {
  if (images === undefined) return;
  mkdirSync(images, { recursive: true });
  await page.mouse.move(700, 640);
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(images, `${name}.png`) });
};
const text = (page, selector) => page.locator(selector).innerText();

/** Plays the demo to its end. */
const demo = (pace = 0) => new Promise((resolve, reject) => {
  const child = spawn(wink, ['demo', '--pace', String(pace), '--output', join(place, 'dump')], { env, cwd: place, stdio: 'ignore' });
  child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the demo ended with ${code}`))));
});

/** Checks a screen in both themes. */
const bothThemes = async (page, name) => {
  for (const theme of ['dark', 'light']) {
    const is = await page.evaluate(() => document.documentElement.dataset.theme);
    if (is !== theme) await page.getByRole('button', { name: /Switch to the/ }).click();
    await wait(page, (wanted) => document.documentElement.dataset.theme === wanted, theme);
    await accessible(page, `${name}, ${theme}`);
    if (theme === 'dark') await shoot(page, name);
    else if (name === 'run') await shoot(page, 'run-light');
  }
};

let chromium;
let served;

test('the demo fills the page while it runs, and a bad call is found, explained and undone there', async () => {
  served = await start('serve', '--port', '0');
  const page = await open(chromium, served.open);
  assert.equal(await page.locator('h1').innerText(), 'Runs');
  assert.ok(!page.url().includes('open'), 'the secret is not in the address any more');
  await page.getByRole('link', { name: 'main', exact: true }).click();
  await page.getByText('Nothing has happened here yet').waitFor();
  await accessible(page, 'an empty run');
  const playing = demo(15);
  await wait(page, () => document.querySelectorAll('.ev').length > 4);
  await playing;
  await page.getByText('44 tool calls').waitFor();
  await page.getByRole('button', { name: 'Changed 5' }).waitFor();
  await bothThemes(page, 'run');

  // Three clicks: the failed call, the last change before it, and its undo.
  await page.getByRole('note').getByRole('button', { name: 'click the red call' }).click();
  await page.getByText('This call failed and changed nothing.').waitFor();
  await bothThemes(page, 'failed-call');
  await page.getByRole('button', { name: 'rm demo/src' }).click();
  await page.getByRole('treeitem').filter({ hasText: 'report.py' }).waitFor();
  const letters = await page.locator('.files .row .b.D').allInnerTexts();
  assert.ok(letters.includes('D'), letters.join());
  await page.locator('.diff .ln.del').first().waitFor();
  await bothThemes(page, 'call');

  // The demo took that call back itself. A write that it made can be undone here, and redone.
  const written = page.locator('.ev', { hasText: 'write_file' }).filter({ hasText: 'README.md' });
  await page.locator('.events').evaluate((list) => { list.scrollTop = 0; });
  await written.first().click();
  await page.getByRole('button', { name: 'Undo this call' }).waitFor();
  await call(served, 'write_file', { path: 'bad.txt', content: 'broken\n', session: 'demo' });
  await page.locator('.events').evaluate((list) => { list.scrollTop = 1e6; });
  await page.locator('.ev', { hasText: 'bad.txt' }).click();
  await page.locator('.diff .ln.add', { hasText: 'broken' }).waitFor();
  await page.keyboard.press('z');
  await page.getByText(/Undid write_file \(operation \d+\): 1 path restored/).waitFor();
  assert.equal((await call(served, 'read_file', { path: 'bad.txt' })).isError, true);
  await page.getByRole('button', { name: 'Redo' }).click();
  await page.getByText(/Redid write_file/).waitFor();
  assert.equal((await call(served, 'read_file', { path: 'bad.txt' })).isError, false);
  assert.deepEqual(page.problems, []);
  await page.context().storageState({ path: join(place, 'signed-in.json') });
  await page.context().close();
});

const again = (path, options = {}) => open(chromium, served.base + path, { storageState: join(place, 'signed-in.json'), ...options });

test('keys do everything that clicks do', async () => {
  const page = await again('/run/main');
  await page.getByText(/tool calls/).waitFor();
  const selected = () => new URL(page.url()).searchParams.get('ev');
  await page.keyboard.press('j');
  const first = selected();
  assert.ok(first);
  await page.keyboard.press('j');
  assert.equal(selected(), String(Number(first) + 1));
  await page.keyboard.press('k');
  await page.keyboard.press('ArrowRight');
  assert.equal(selected(), String(Number(first) + 1));
  await page.keyboard.press('Escape');
  assert.equal(selected(), null);
  await page.keyboard.press(']');
  assert.ok(new URL(page.url()).searchParams.get('snap'));
  await page.keyboard.press('u');
  assert.equal(await page.getByRole('button', { name: 'Unified' }).getAttribute('aria-pressed'), 'true');
  await page.keyboard.press('u');
  await page.keyboard.press('t');
  await page.getByRole('searchbox', { name: 'Filter files' }).fill('count');
  await wait(page, () => [...document.querySelectorAll('.files .row')].every((row) => !row.textContent.includes('README')));
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.getByRole('searchbox', { name: 'Search events' }).fill('undo');
  await wait(page, () => [...document.querySelectorAll('.ev')].every((row) => row.textContent.includes('undo')));
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await accessible(page, 'help');
  await page.keyboard.press('Escape');
  for (const [keys, address] of [['g l', '/stats/main'], ['g t', '/store/main'], ['g s', '/session/main'], ['g c', '/compare'], ['g h', '/'], ['g r', '/run/main']]) {
    for (const key of keys.split(' ')) await page.keyboard.press(key);
    await wait(page, (wanted) => location.pathname === wanted, address);
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('report');
  await page.getByRole('option', { name: /report\.py/ }).first().waitFor();
  await accessible(page, 'palette');
  await page.keyboard.press('Enter');
  await wait(page, () => location.pathname === '/search/main');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('every action of the page: fork, restore with its preview and undo, revert, compare, copy', async () => {
  const page = await again('/run/main');
  await page.getByText(/tool calls/).waitFor();
  await page.getByRole('button', { name: /^Snapshot demo-any-case/ }).click({ force: true });
  await page.getByRole('heading', { name: 'demo-any-case' }).waitFor();
  await bothThemes(page, 'snapshot');
  await page.keyboard.press('f');
  await page.getByRole('dialog', { name: 'Fork' }).waitFor();
  await accessible(page, 'fork');
  await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click();
  await page.getByText(/Fork try-1 has the files of demo-any-case/).waitFor();
  const forked = await call(served, 'read_file', { path: 'demo/src/main.py', fork: 'try-1' });
  assert.ok(!forked.content[0].text.includes('report'), 'the fork has the files of the snapshot');
  await page.keyboard.press('r');
  const sheet = page.getByRole('dialog', { name: 'Restore' });
  await sheet.getByText(/to remove/).waitFor();
  await accessible(page, 'restore');
  await shoot(page, 'restore');
  await sheet.getByRole('button', { name: 'Restore' }).click();
  await page.getByText(/Restored demo-any-case/).waitFor();
  assert.equal((await call(served, 'read_file', { path: 'demo/src/report.py' })).isError, true);
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
  await page.getByText(/Undid restore/).waitFor();
  assert.equal((await call(served, 'read_file', { path: 'demo/src/report.py' })).isError, false);
  await page.getByRole('button', { name: 'Revert this step' }).click();
  const revert = page.getByRole('dialog', { name: 'Revert' });
  await revert.getByRole('button', { name: 'Revert' }).waitFor();
  await accessible(page, 'revert');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Copy CLI' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^wink diff [0-9a-z]{8} [0-9a-z]{8}/);
  await page.keyboard.press('c');
  await page.getByText(/files? differ/).waitFor();
  await page.locator('.one-diff .ln').first().waitFor();
  await bothThemes(page, 'compare');
  await page.goto(`${served.base}/compare?run=main&a=fork:try-1&b=@`);
  await page.getByText(/files? differ/).waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('the other screens, in both themes', async () => {
  const page = await again('/search/main?q=report');
  await page.locator('.hit').first().waitFor();
  await page.getByText(/snapshots? searched/).waitFor();
  await bothThemes(page, 'search');
  await page.locator('.group .hit').first().click();
  await wait(page, () => location.pathname === '/run/main');
  await page.goto(`${served.base}/session/main`);
  await page.getByRole('button', { name: /tool_invoked/ }).click();
  await page.locator('.slice-item button').first().click();
  await page.locator('.slice-item pre').waitFor();
  await bothThemes(page, 'session');
  await page.getByRole('button', { name: 'raw line' }).click();
  await page.locator('pre.raw', { hasText: 'wink session' }).waitFor();
  await page.goto(`${served.base}/stats/main`);
  await page.locator('.plot canvas').nth(1).waitFor();
  await bothThemes(page, 'stats');
  await page.goto(`${served.base}/store/main`);
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('✓ no problems').waitFor();
  await page.getByRole('button', { name: 'Check this computer' }).click();
  await page.locator('.checks li').first().waitFor();
  await bothThemes(page, 'store');
  await page.goto(`${served.base}/`);
  await page.locator('tbody tr').waitFor();
  await bothThemes(page, 'home');
  await page.goto(`${served.base}/run/nothing`);
  await page.getByRole('alert').getByText(/nothing here is named/).waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a3_62 names and files of an agent never run, and nothing in a name is hidden', async () => {
  const name = '<img src=x onerror="document.title=\'owned\'">.html';
  await call(served, 'write_file', { path: `bad/${name}`, content: '<script>document.title="owned"</script>' });
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>document.title="owned"</script><rect width="9" height="9"/></svg>';
  await call(served, 'write_file', { path: 'bad/picture.svg', content: svg });
  await call(served, 'write_file', { path: 'bad/right\u202eleft.txt', content: 'x' });
  await call(served, 'write_file', { path: 'bad/lines.txt', content: 'a\u202eb\r\n' });
  const page = await again('/run/main?mode=all&tab=file&file=bad/picture.svg');
  await page.locator('.images img').waitFor();
  await wait(page, () => document.querySelector('.images img')?.naturalWidth === 9);
  await page.locator('.files .row', { hasText: 'onerror' }).click();
  await page.locator('.file').waitFor();
  await wait(page, () => document.querySelector('.file')?.shadowRoot?.querySelector('.cm-line') !== null);
  assert.ok(!/owned/.test(await page.title()));
  await page.keyboard.press('Escape');
  await page.locator('.ev', { hasText: 'lines.txt' }).click();
  await page.locator('.diff .ln.add', { hasText: 'a\\u{202e}b' }).waitFor();
  // As pages of their own they are sandboxed, and downloaded.
  for (const path of ['bad/picture.svg', `bad/${name}`]) {
    const raw = await page.evaluate(async (path) => {
      const answer = await fetch(`/api/v1/runs/main/raw?path=${encodeURIComponent(path)}`);
      return { policy: answer.headers.get('content-security-policy'), kind: answer.headers.get('content-disposition'), sniff: answer.headers.get('x-content-type-options') };
    }, path);
    assert.match(raw.policy, /^sandbox; default-src 'none'/);
    assert.deepEqual([raw.kind, raw.sniff], ['attachment', 'nosniff']);
  }
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a dump with 100,000 files and 10,000 events', async () => {
  const debug = await start('debug', large.dump(place, 100_000, 10_000), '--port', '0');
  const page = await open(chromium, debug.open);
  await measure('first paint of a dump with 100,000 files and 10,000 events', 1000, 'ms', async () => {
    await page.goto(`${debug.base}/run/${large.ID}?mode=all`);
    return (await wait(page, () => (document.querySelectorAll('.ev').length > 3 && document.querySelectorAll('.row').length > 3 ? performance.now() : false))).jsonValue();
  });
  await page.getByText('10,000 tool calls').waitFor();
  await page.getByRole('note').getByText(/No history lies beside the session/).first().waitFor();
  assert.equal(await page.getByRole('button', { name: /Fork here|Restore/ }).count(), 0, 'a dump cannot be changed');
  let rows = 0;
  const count = async () => {
    rows = Math.max(rows, await page.evaluate(() => document.querySelectorAll('.row, .ev, .ln').length));
  };
  const button = page.getByRole('button', { name: 'Expand all directories' });
  await measure('expand all of 100,000 files', 200, 'ms', async () => {
    if (await button.getAttribute('aria-pressed') === 'true') await button.click();
    await wait(page, () => document.querySelector('.tree[data-total]') === null);
    return page.evaluate(() => new Promise((resolve) => {
      const began = performance.now();
      document.querySelector('[aria-label="Expand all directories"]').click();
      const look = () => (document.querySelector('.tree[data-total] .row') ? resolve(performance.now() - began) : requestAnimationFrame(look));
      look();
    }));
  });
  assert.ok(Number(await page.locator('.tree').getAttribute('data-total')) > 100_000);
  await count();
  const scrolled = (selector) => page.evaluate((selector) => new Promise((resolve) => {
    const list = document.querySelector(selector);
    const frames = [];
    let last = performance.now();
    const step = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      list.scrollTop += 400;
      if (frames.length < 90) requestAnimationFrame(step);
      else resolve(frames.slice(1).sort((a, b) => a - b)[Math.floor(frames.length * 0.95) - 1]);
    };
    requestAnimationFrame(step);
  }), selector);
  await measure('scrolling frame of the files, 95th percentile', 50, 'ms', () => scrolled('.tree'));
  await count();
  await measure('scrolling frame of the events, 95th percentile', 50, 'ms', () => scrolled('.events'));
  await count();
  await page.getByRole('button', { name: 'Filter files' }).click();
  const filter = page.getByRole('searchbox', { name: 'Filter files' });
  let number = 4200;
  await measure('filter of 100,000 files, a key', 150, 'ms', async () => {
    number += 1;
    await filter.fill(`file-${number}`.slice(0, -1));
    await wait(page, (wanted) => document.querySelector('.tree .nm')?.textContent.includes(wanted), `file-${number}`.slice(0, -1));
    await page.evaluate((wanted) => {
      globalThis.filtered = new Promise((resolve) => {
        const input = document.querySelector('input[aria-label="Filter files"]');
        input.addEventListener('input', () => {
          const began = performance.now();
          const look = () => {
            const all = [...document.querySelectorAll('.tree .nm')];
            if (all.length > 0 && all.every((it) => it.textContent.includes(wanted))) resolve(performance.now() - began);
            else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        }, { once: true });
      });
    }, `file-${number}`);
    await page.keyboard.press(String(number).slice(-1));
    return page.evaluate(() => globalThis.filtered);
  });
  await count();
  await measure('rows in the page, ever', 1000, 'rows', async () => rows);
  await accessible(page, 'a large dump');
  assert.deepEqual(page.problems, []);
  await page.context().close();
  await debug.end();
});

test('large files: a difference of 12 MB with 400 hunks, and a file of 50 MB', async () => {
  const directory = join(place, 'work');
  large.workspace(directory, 'version1');
  run('init', directory);
  run('-C', directory, 'snapshot', '--tag', 'before');
  large.workspace(directory, 'version2');
  const debug = await start('debug', directory, '--port', '0');
  const page = await open(chromium, debug.open);
  await measure('difference of a 12 MB file with 400 hunks, after its hunks arrive', 200, 'ms', async () => {
    await page.goto(`${debug.base}/run/work?a=before&b=@&file=large.txt`);
    await page.locator('.diff .ln.add').first().waitFor();
    return page.evaluate(() => {
      const fetched = performance.getEntriesByType('resource').filter((it) => it.name.includes('/diff?')).at(-1);
      const made = performance.getEntriesByName('diff-rows').filter((it) => it.startTime >= fetched.responseEnd - 1 && it.duration > 0).at(0);
      return made.startTime + made.duration - fetched.responseEnd;
    });
  });
  assert.equal(await text(page, '.centre .counts'), '+400 −400');
  await measure('a 50 MB file', 1500, 'ms', async () => {
    await page.goto(`${debug.base}/run/work?mode=all`);
    await page.locator('.row', { hasText: 'huge.log' }).waitFor();
    return page.evaluate(() => new Promise((resolve) => {
      const began = performance.now();
      [...document.querySelectorAll('.row')].find((row) => row.textContent.includes('huge.log')).click();
      const look = () => (document.querySelector('.file')?.shadowRoot?.querySelector('.cm-line') ? resolve(performance.now() - began) : requestAnimationFrame(look));
      look();
    }));
  });
  // What another process does is seen too.
  run('-C', directory, 'snapshot', '--tag', 'from-outside');
  await page.getByRole('button', { name: /Snapshot from-outside/ }).waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
  await debug.end();
});

test('a damaged dump shows what is readable, and says what is not', async () => {
  const items = [large.record(0, 'write_file', 'a.txt'), large.record(1, 'ls', 'gone', false), large.record(2, 'ls', '.')];
  items[0].parameters.text = JSON.stringify({ path: 'a.txt', content: 'the only trace' });
  const whole = large.line('a1a2a3a4-b1b2-4c1c-8d1d-d2d3d4d5d6d7', [{ name: 'tool_invoked', kind: 'log', items }]);
  const file = join(place, 'damaged.jsonl');
  writeFileSync(file, `not a line\n${whole.slice(0, -60)}`);
  writeFileSync(join(place, 'damaged.fs.zip'), 'no archive');
  const debug = await start('debug', file, '--port', '0');
  const page = await open(chromium, `${debug.open}`);
  await page.goto(`${debug.base}/run/damaged`);
  await page.getByText('2 tool calls').waitFor();
  for (const note of ['Line 1: it is not a line of a session dump.', 'Line 2: the file ends within it', '`damaged.fs.zip` is not shown']) {
    await page.getByRole('note').filter({ hasText: note }).first().waitFor();
  }
  await page.locator('.ev', { hasText: 'write_file' }).click();
  await page.locator('.ln.add', { hasText: 'the only trace' }).waitFor();
  await page.context().close();
  await debug.end();
});

test('calls are seen at once, ten thousand of them too, and a server that goes away is noticed', async () => {
  const page = await again('/run/main');
  await page.getByText(/tool calls/).waitFor();
  let number = 0;
  await measure('tool call to pixel, live', 250, 'ms', async () => {
    number += 1;
    const name = `live-${number}.txt`;
    await page.evaluate((name) => {
      globalThis.seen = new Promise((resolve) => {
        const look = () => ([...document.querySelectorAll('.ev')].some((row) => row.textContent.includes(name)) ? resolve(Date.now()) : requestAnimationFrame(look));
        look();
      });
    }, name);
    const began = Date.now();
    await call(served, 'write_file', { path: name, content: 'x' });
    return (await page.evaluate(() => globalThis.seen)) - began;
  });
  const before = Number((await page.locator('.tl .cap span').nth(1).innerText()).replace(/\D/g, ''));
  const flood = async () => { for (let at = 0; at < 250; at += 1) await call(served, 'ls', {}); };
  await Promise.all(Array.from({ length: 8 }, flood));
  await wait(page, (wanted) => Number(document.querySelectorAll('.tl .cap span')[1].textContent.replace(/\D/g, '')) === wanted, before + 2000);
  assert.ok(await page.evaluate(() => document.querySelectorAll('.ev').length) < 100);
  await served.end();
  await page.getByRole('alert').getByText(/does not answer/).waitFor();
  // Another server at the same address has other secrets.
  const port = new URL(served.base).port;
  served = await start('serve', '--port', port);
  await page.getByRole('alert').getByText(/started anew/).waitFor();
  await page.goto(served.open);
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.context().close();
});

test('the run of the demo opens from its dump afterwards', async () => {
  const debug = await start('debug', join(place, 'dump/demo.jsonl'), '--port', '0');
  const page = await open(chromium, debug.open);
  await page.goto(`${debug.base}/run/demo?mode=all`);
  await page.getByText('43 tool calls').waitFor();
  await page.locator('.row', { hasText: 'demo' }).first().click();
  await page.locator('.row', { hasText: 'README.md' }).click();
  await wait(page, () => document.querySelector('.file')?.shadowRoot?.querySelector('.cm-line') !== null);
  await page.goto(`${debug.base}/session/demo?slice=tool_invoked`);
  await page.locator('.slice-item').first().waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
  await debug.end();
});

test('small screens: the inspector is a drawer, panes are tabs', async () => {
  for (const [width, name] of [[1000, 'a drawer'], [700, 'tabs']]) {
    await call(served, 'write_file', { path: `small-${width}.txt`, content: 'x' });
    const page = await open(chromium, `${served.base}/`, { viewport: { width, height: 900 }, storageState: await signedIn() });
    await page.goto(`${served.base}/run/main`);
    await page.locator('.ev').first().click();
    if (width < 760) await page.getByRole('button', { name: 'inspector', exact: true }).click();
    await page.getByRole('heading', { name: 'write_file' }).waitFor();
    await accessible(page, name);
    await page.context().close();
  }
});

let state;
async function signedIn() {
  if (state === undefined) {
    served = await start('serve', '--port', '0');
    await call(served, 'write_file', { path: 'small.txt', content: 'x' });
    const page = await open(chromium, served.open);
    state = await page.context().storageState();
    await page.context().close();
  }
  return state;
}

chromium = await browser();
let failures = 0;
try {
  for (const { name, work } of tests) {
    if (only !== undefined && !name.includes(only)) continue;
    const began = Date.now();
    try {
      await work();
      console.log(`ok   ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failures += 1;
      console.log(`FAIL ${name}\n${error.stack}`);
      for (const context of chromium.contexts()) {
        const page = context.pages().at(-1);
        if (page) {
          console.log(`     at ${page.url()}; problems: ${(page.problems ?? []).join('; ')}`);
          if (process.env.WINK_FAILED) await page.screenshot({ path: process.env.WINK_FAILED });
        }
        await context.close();
      }
    }
  }
  if (only === undefined) report();
} catch (error) {
  failures += 1;
  console.log(error.message);
} finally {
  await chromium.close();
  cleanUp();
}
process.exit(failures === 0 ? 0 : 1);
