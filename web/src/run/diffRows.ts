// The rows of a difference, as a list shows them: hunks with the lines that are left out between them.

import type { FileDiff, HunkRows, LineRow } from '../types.ts';

export interface Cell {
  number: number;
  row: LineRow;
}

export type DiffRow =
  | { kind: 'gap'; old: number; new: number; lines: number }
  | { kind: 'line'; old: Cell | null; new: Cell | null }
  | { kind: 'note'; text: string };

/** Lines that were left out and are shown now: by the number of the first, on the new side. */
export type Expanded = { old: number; new: number; rows: LineRow[] }[];

/** Makes the rows of a difference: in split view a removed line stands beside an added one. */
export function diffRows(diff: FileDiff, split: boolean, expanded: Expanded): DiffRow[] {
  const lines = diff.lines;
  if (lines === null) return [];
  const rows: DiffRow[] = [];
  let old = 1;
  let now = 1;
  const gap = (oldTo: number, newTo: number) => {
    while (old < oldTo || now < newTo) {
      const part = expanded.filter((it) => it.new >= now && it.new < newTo).sort((x, y) => x.new - y.new)[0];
      const end = part?.new ?? newTo;
      if (end > now) {
        rows.push({ kind: 'gap', old, new: now, lines: end - now });
        old += end - now;
        now = end;
      }
      if (part === undefined) {
        // Sides of different lengths differ only within hunks.
        old = oldTo;
        now = newTo;
        break;
      }
      for (const row of part.rows) {
        if (now >= newTo) break;
        rows.push({ kind: 'line', old: { number: old, row }, new: { number: now, row } });
        old += 1;
        now += 1;
      }
      if (part.rows.length === 0) break;
    }
  };
  for (const hunk of lines.hunks) {
    gap(hunk.old_start, hunk.new_start);
    old = hunk.old_start;
    now = hunk.new_start;
    [old, now] = addHunk(rows, hunk, old, now, split);
  }
  if (lines.hunks.length > 0 && !lines.truncated) gap(lines.old_lines + 1, lines.new_lines + 1);
  if (lines.truncated) rows.push({ kind: 'note', text: 'The rest of the difference is not shown; `wink diff` prints all of it.' });
  return rows;
}

function addHunk(rows: DiffRow[], hunk: HunkRows, old: number, now: number, split: boolean): [number, number] {
  let removed: Cell[] = [];
  let added: Cell[] = [];
  const flush = () => {
    if (split) {
      for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
        rows.push({ kind: 'line', old: removed[at] ?? null, new: added[at] ?? null });
      }
    } else {
      removed.forEach((cell) => rows.push({ kind: 'line', old: cell, new: null }));
      added.forEach((cell) => rows.push({ kind: 'line', old: null, new: cell }));
    }
    removed = [];
    added = [];
  };
  for (const row of hunk.rows) {
    if (row.sign === '-') {
      removed.push({ number: old, row });
      old += 1;
    } else if (row.sign === '+') {
      added.push({ number: now, row });
      now += 1;
    } else {
      flush();
      rows.push({ kind: 'line', old: { number: old, row }, new: { number: now, row } });
      old += 1;
      now += 1;
    }
  }
  flush();
  return [old, now];
}

/** The rows at which a run of changed lines begins. */
export function changeStarts(rows: DiffRow[]): number[] {
  const isChanged = (row: DiffRow | undefined) => row?.kind === 'line' && (row.old?.row.sign === '-' || row.new?.row.sign === '+');
  return rows.flatMap((row, at) => (isChanged(row) && !isChanged(rows[at - 1]) ? [at] : []));
}

/** The text of a difference as a patch that programs apply. */
export function patchOf(diff: FileDiff, from: string): string {
  if (diff.lines === null) return '';
  let text = `--- ${diff.a === null ? '/dev/null' : `a/${from}`}\n+++ ${diff.b === null ? '/dev/null' : `b/${diff.path}`}\n`;
  for (const hunk of diff.lines.hunks) {
    const old = hunk.rows.filter((row) => row.sign !== '+').length;
    const now = hunk.rows.filter((row) => row.sign !== '-').length;
    // A side without lines is counted from the line before.
    const oldStart = old === 0 ? hunk.old_start - 1 : hunk.old_start;
    const newStart = now === 0 ? hunk.new_start - 1 : hunk.new_start;
    text += `@@ -${oldStart},${old} +${newStart},${now} @@\n`;
    for (const row of hunk.rows) {
      const end = row.end === 'cr' ? '\r\n' : row.end === 'eof' ? '\n\\ No newline at end of file\n' : '\n';
      text += `${row.sign}${row.text}${end}`;
    }
  }
  return text;
}
