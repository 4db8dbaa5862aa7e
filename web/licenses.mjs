// Writes the licences of what the built page contains.

import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
let text = 'The page contains parts of these packages.\n';
for (const [path, { dev, version, license }] of Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1))) {
  if (path === '' || dev || !existsSync(path)) continue;
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${path} has no licence`);
  text += `\n=== ${path.slice('node_modules/'.length)} ${version} (${license})\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`;
}
writeFileSync(process.argv[2], text);
