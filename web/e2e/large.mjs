// Makes large things to look at: a dump with many files and events, and a workspace with large files.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/** Writes an archive of stored files, as other programs could. */
export function archive(file, files) {
  const parts = [];
  const central = [];
  let offset = 0;
  let total = 0;
  const add = (name, content) => {
    const path = Buffer.from(name);
    const local = Buffer.alloc(30);
    const crc = crc32(content);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(0x800, 6);
    local.writeUInt16LE(0x21, 12);
    local.writeUInt32LE(crc, 14);
    local.writeUInt32LE(content.length, 18);
    local.writeUInt32LE(content.length, 22);
    local.writeUInt16LE(path.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(0x31e, 4);
    local.copy(entry, 6, 4, 28);
    entry.writeUInt32LE(0o100644 * 65536, 38);
    entry.writeUInt32LE(offset, 42);
    parts.push(local, path, content);
    central.push(entry, path);
    offset += 30 + path.length + content.length;
  };
  const all = files.map(([name, content]) => [name, Buffer.from(content)]);
  all.forEach(([, content]) => { total += content.length; });
  add('manifest.json', Buffer.from(JSON.stringify({ version: '1', created_at: '2026-11-16T05:40:20Z', file_count: all.length, total_bytes: total })));
  all.forEach(([name, content]) => add(`files/${name}`, content));
  const directory = Buffer.concat(central);
  const count = all.length + 1;
  const end64 = Buffer.alloc(56 + 20);
  end64.writeUInt32LE(0x06064b50, 0);
  end64.writeBigUInt64LE(44n, 4);
  end64.writeUInt16LE(45, 12);
  end64.writeUInt16LE(45, 14);
  end64.writeBigUInt64LE(BigInt(count), 24);
  end64.writeBigUInt64LE(BigInt(count), 32);
  end64.writeBigUInt64LE(BigInt(directory.length), 40);
  end64.writeBigUInt64LE(BigInt(offset), 48);
  end64.writeUInt32LE(0x07064b50, 56);
  end64.writeBigUInt64LE(BigInt(offset + directory.length), 64);
  end64.writeUInt32LE(1, 72);
  const end = Buffer.alloc(22);
  const isLarge = count >= 65_535;
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(isLarge ? 0xffff : count, 8);
  end.writeUInt16LE(isLarge ? 0xffff : count, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  writeFileSync(file, Buffer.concat([...parts, directory, ...(isLarge ? [end64] : []), end]));
}

/** One record of a call in a dump. */
export function record(number, tool, path, success = true) {
  return {
    call_id: `call-${number}`, turn: 1 + Math.floor(number / 20), at: new Date(Date.UTC(2026, 10, 16, 5, 40) + number * 731).toISOString(), tool,
    parameters: { text: JSON.stringify({ path }), full_bytes: 20 }, result: { text: success ? 'done' : 'it is not there', full_bytes: 4 }, path, mode: null,
    duration_us: 200 + (number * 7919) % 90_000, success, snapshot_before: null, snapshot_after: null,
  };
}

/** One line of a dump. */
export function line(id, slices) {
  return `${JSON.stringify({ format: 'wink session', version: 1, requires: [], session_id: id, parent: null, created_at: '2026-11-16T05:40:19Z', tags: {}, slices })}\n`;
}

export const ID = '67e55044-10b1-426f-9247-bb680e5fe0c8';

/** Writes a dump with so many files and events; returns its path. */
export function dump(directory, files, events) {
  const name = (number) => `pkg-${String(Math.floor(number / 1000)).padStart(3, '0')}/src/part-${Math.floor((number % 1000) / 50)}/file-${number}.rs`;
  archive(join(directory, `${ID}.fs.zip`), Array.from({ length: files }, (_, number) => [name(number), `fn file_${number}() {}\n`]));
  const tools = ['read_file', 'edit_file', 'grep', 'shell_execute', 'write_file'];
  const items = Array.from({ length: events }, (_, number) => record(number, tools[number % tools.length], name(number % files), number % 97 !== 5));
  const file = join(directory, `${ID}.jsonl`);
  writeFileSync(file, line(ID, [{ name: 'tool_invoked', kind: 'log', items }]));
  return file;
}

/** The lines of a large file; every so many of them differ from those of another version. */
export function text(lines, width, version) {
  const every = Math.floor(lines / 400);
  const rest = 'x'.repeat(width - 24);
  const all = Array.from({ length: lines }, (_, at) => `${String(at).padStart(9, '0')} ${at % every === 7 ? version : 'the-same'} ${rest}`);
  return `${all.join('\n')}\n`;
}

/** Makes a workspace's files: a file of 12 MB in one of two versions, and one of 50 MB. */
export function workspace(directory, version) {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'large.txt'), text(15_200, 800, version));
  if (version === 'version1') writeFileSync(join(directory, 'huge.log'), text(500_000, 104, version));
}
