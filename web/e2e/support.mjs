// Starts the real binary and a browser, and talks to both.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

export const wink = process.env.WINK_TEST_BINARY;
assert.ok(wink, 'WINK_TEST_BINARY names no binary: run scripts/test, which builds one');

export const place = mkdtempSync(join(tmpdir(), 'wink-window-'));
export const env = {
  ...process.env, HOME: join(place, 'home'), XDG_DATA_HOME: join(place, 'data'), XDG_RUNTIME_DIR: join(place, 'run'), NO_COLOR: '1',
};
const children = [];

/** Runs a command of wink to its end. */
export function run(...args) {
  const done = spawnSync(wink, args, { env, cwd: place, encoding: 'utf8' });
  assert.equal(done.status, 0, `wink ${args.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

/** Starts `wink serve` or `wink debug`, and waits for the address of the page. */
export async function start(...args) {
  const child = spawn(wink, args, { env, cwd: place });
  children.push(child);
  let output = '';
  let errors = '';
  child.stderr.on('data', (data) => { errors += data; });
  const open = await new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => {
      output += data;
      const found = /Page: (\S+)/.exec(output);
      if (found) resolve(found[1]);
    });
    child.on('exit', () => reject(new Error(`wink ${args.join(' ')} ended: ${output} ${errors}`)));
  });
  const base = open.split('/open/')[0];
  const token = () => /Bearer ([0-9a-f]+)/.exec(output)?.[1];
  const end = () => new Promise((resolve) => {
    child.on('exit', resolve);
    child.kill('SIGTERM');
  });
  return { child, open, base, end, token, errors: () => errors };
}

/** Calls a tool over MCP. */
export async function call(server, name, args) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
  const headers = { authorization: `Bearer ${server.token()}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const answer = await (await fetch(`${server.base}/mcp`, { method: 'POST', headers, body })).json();
  return answer.result;
}

export async function browser() {
  return chromium.launch({
    executablePath: process.env.WINK_TEST_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** Opens a page that fails the test on every error and every refusal of the policy. */
export async function open(of, url, options = {}) {
  const context = await of.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark', reducedMotion: 'reduce', ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) problems.push(message.text());
  });
  page.problems = problems;
  await page.goto(url);
  return page;
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails if axe finds a violation of WCAG 2.2 AA. */
export async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'],
  }));
  const violations = found.violations.map((it) => `${it.id}: ${it.nodes.slice(0, 4).map((node) => `${node.target.join(' ')} ${node.failureSummary?.split('\n')[1] ?? ''}`).join(' | ')}`);
  assert.deepEqual(violations, [], `${name}: axe`);
}

/** What was measured, against what must be reached. */
const table = [];

/** Measures up to three times, and keeps the best: other programs run on this machine too. */
export async function measure(what, most, unit, once) {
  let best = Infinity;
  for (let attempt = 0; attempt < 3 && best > most; attempt += 1) best = Math.min(best, await once());
  table.push({ what, measured: `${Math.round(best * 10) / 10} ${unit}`, most: `${most} ${unit}`, reached: best <= most });
  return best;
}

/** Prints the measurements; fails if one is missed on a machine that has nothing else to do. */
export function report() {
  const load = loadavg()[0] / cpus().length;
  console.log(`\nload: ${load.toFixed(2)} per core`);
  for (const row of table) console.log(`${row.reached ? 'ok    ' : 'MISSED'} ${row.what}: ${row.measured} (at most ${row.most})`);
  const missed = table.filter((row) => !row.reached);
  if (load < 0.7) assert.deepEqual(missed, [], 'missed on an idle machine');
  else if (missed.length > 0) console.log(`${missed.length} missed on a machine that is busy; not counted as a failure`);
}

export function cleanUp() {
  children.forEach((child) => child.kill('SIGKILL'));
  rmSync(place, { recursive: true, force: true });
}
