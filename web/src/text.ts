// How numbers, times and names are written.

import type { CallSummary, SnapshotSummary } from './types.ts';

/** Characters that are not seen, or that change how the text around them is shown. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Shows what would be hidden in a name: a file may be called anything. */
export function plain(text: string): string {
  return text.replace(HIDDEN, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
}

/** The same for a line of a file, in which a tab is a tab. */
export function plainLine(text: string): string {
  return text.replace(HIDDEN, (c) => (c === '\t' ? c : `\\u{${c.charCodeAt(0).toString(16)}}`));
}

export function count(number: number): string {
  return number.toLocaleString('en-US');
}

export function counted(number: number, one: string, many: string): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function bytes(size: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

/** Microseconds, as people say them. */
export function duration(us: number): string {
  if (us < 1_000) return `${us} µs`;
  if (us < 10_000) return `${(us / 1_000).toFixed(1)} ms`;
  if (us < 1_000_000) return `${Math.round(us / 1_000)} ms`;
  if (us < 60_000_000) return `${(us / 1_000_000).toFixed(1)} s`;
  return `${Math.floor(us / 60_000_000)} min ${Math.round((us % 60_000_000) / 1_000_000)} s`;
}

const two = (number: number) => String(number).padStart(2, '0');

/** The time of day, to the millisecond where that is asked for. */
export function clock(at: number, exact = false): string {
  const time = new Date(at);
  const text = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return exact ? `${text}.${String(time.getMilliseconds()).padStart(3, '0')}` : text;
}

export function date(at: number): string {
  const time = new Date(at);
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock(at)}`;
}

/** How long ago something was. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return date(at);
}

/** What a snapshot is called. */
export function snapshotName(snapshot: SnapshotSummary): string {
  return snapshot.tag === null ? snapshot.short : plain(snapshot.tag);
}

/** What a state is called, given its name in addresses. */
export function stateName(state: string, snapshots: SnapshotSummary[]): string {
  if (state === '@') return 'now';
  if (state === 'empty') return 'the beginning';
  const fork = /^fork:([^/]+)$/.exec(state);
  if (fork) return `fork ${fork[1]}`;
  const operation = /op:(\d+)(\^?)$/.exec(state);
  if (operation) return `${operation[2] === '' ? 'after' : 'before'} operation ${operation[1]}`;
  const snapshot = snapshots.find((it) => it.id === state || it.tag === state || it.short === state);
  return snapshot ? snapshotName(snapshot) : plain(state);
}

export function status(call: CallSummary): string {
  return call.ok ? '✓ ok' : `✕ ${call.code ?? 'failed'}`;
}

/** Quotes a word for a shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Formats JSON text, if it is whole. */
export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** The name of the last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
