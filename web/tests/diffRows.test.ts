import { expect, test } from 'vitest';
import { changeStarts, diffRows, patchOf, type DiffRow } from '../src/run/diffRows.ts';
import type { FileDiff, LineRow } from '../src/types.ts';

const row = (sign: string, text: string): LineRow => ({ sign, text, marks: [] });
const side = { kind: 'file', size: 1, executable: false };

function diff(): FileDiff {
  return {
    path: 'a.txt', a: side, b: side,
    lines: {
      added: 2, removed: 1, old_lines: 100, new_lines: 101, truncated: false,
      hunks: [{ old_start: 10, new_start: 10, rows: [row(' ', 'x'), row('-', 'old'), row('+', 'new'), row('+', 'more'), row(' ', 'y')] }],
    },
  };
}

const shown = (rows: DiffRow[]) => rows.map((it) => {
  if (it.kind === 'gap') return `…${it.lines} from ${it.old}/${it.new}`;
  if (it.kind === 'note') return it.text;
  return `${it.old?.number ?? ''}${it.old?.row.text ?? ''}|${it.new?.number ?? ''}${it.new?.row.text ?? ''}`;
});

test('removed lines stand beside added ones, with the gaps around them', () => {
  expect(shown(diffRows(diff(), true, []))).toEqual(['…9 from 1/1', '10x|10x', '11old|11new', '|12more', '12y|13y', '…88 from 13/14']);
});

test('in one column, removed lines come before added ones', () => {
  expect(shown(diffRows(diff(), false, [])).slice(1, 6)).toEqual(['10x|10x', '11old|', '|11new', '|12more', '12y|13y']);
});

test('a gap is opened from its beginning, and what is left of it stays one', () => {
  const opened = [{ old: 13, new: 14, rows: [row(' ', 'z')] }];
  expect(shown(diffRows(diff(), true, opened)).slice(-2)).toEqual(['13z|14z', '…87 from 14/15']);
});

test('changes are counted by runs of changed lines', () => {
  expect(changeStarts(diffRows(diff(), false, []))).toEqual([2]);
});

test('a patch names both files and counts lines as programs do', () => {
  expect(patchOf(diff(), 'a.txt')).toBe('--- a/a.txt\n+++ b/a.txt\n@@ -10,3 +10,4 @@\n x\n-old\n+new\n+more\n y\n');
  const added: FileDiff = {
    path: 'b', a: null, b: side,
    lines: { added: 1, removed: 0, old_lines: 0, new_lines: 1, truncated: false, hunks: [{ old_start: 1, new_start: 1, rows: [{ ...row('+', 'x'), end: 'eof' }] }] },
  };
  expect(patchOf(added, 'b')).toBe('--- /dev/null\n+++ b/b\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n');
});
