import { expect, test } from 'vitest';
import { changeBefore, changeInParameters, filtered, indexAt, pairOfCall, statesAround } from '../src/run/model.ts';
import { changedRows } from '../src/run/Files.tsx';
import { divergence } from '../src/screens/Compare.tsx';
import { paths } from '../src/screens/Session.tsx';
import type { CallSummary, ChangedFile, SnapshotSummary } from '../src/types.ts';

const call = (id: number, more: Partial<CallSummary> = {}): CallSummary => ({
  id: String(id), at: id * 10, us: 100, tool: 'ls', kind: 'read', ok: true, about: '', changed: false, ...more,
} as CallSummary);
const snapshot = (id: string, at: number, fork: string | null = null): SnapshotSummary =>
  ({ id, short: id, at, fork, tag: null, parent: null } as SnapshotSummary);
const calls = [call(1), call(2, { kind: 'write', changed: true, about: 'a' }), call(3, { ok: false, code: 'not_found' }), call(4)];
const snapshots = [snapshot('s1', 15), snapshot('f', 16, 'try'), snapshot('s2', 35)];

test('a moment lies after the calls that began before it', () => {
  expect([0, 10, 11, 35, 99].map((at) => indexAt(calls, at))).toEqual([0, 0, 1, 3, 4]);
});

test('a range ends at the nearest states around it, of no fork', () => {
  expect(statesAround(1.5, 2.5, calls, snapshots)).toEqual({ a: 's1', b: 's2' });
  expect(statesAround(0, 4, calls, snapshots)).toEqual({ a: 'empty', b: '@' });
});

test('the states of a call are its operation, or the snapshots around it', () => {
  const detail = { ...calls[1], operations: [{ a: 'op:7^', b: 'op:7' }] } as never;
  expect(pairOfCall(calls[1] as CallSummary, detail, snapshots)).toEqual({ a: 'op:7^', b: 'op:7', exact: true });
  expect(pairOfCall(calls[1] as CallSummary, null, snapshots)).toEqual({ a: 'empty', b: 's2', exact: false });
  expect(pairOfCall(calls[1] as CallSummary, null, [])).toBeNull();
});

test('events are filtered by kind, words and range', () => {
  expect(filtered(calls, '', 0, 4, false)).toEqual([0, 1, 2, 3]);
  expect(filtered(calls, 'writes', 0, 4, false)).toEqual([1]);
  expect(filtered(calls, 'failed', 0, 4, false)).toEqual([2]);
  expect(filtered(calls, '~NOT_f', 0, 4, false)).toEqual([2]);
  expect(filtered(calls, '', 1, 3, true)).toEqual([1, 2]);
});

test('the last change before a failure is named', () => {
  expect(changeBefore(calls, 2)?.id).toBe('2');
  expect(changeBefore(calls, 1)).toBeUndefined();
});

test('the parameters of a call tell its change where no state was kept', () => {
  expect(changeInParameters('{"path":"a","old_string":"x\\ny","new_string":"z"}').map((it) => it.sign + it.text)).toEqual(['-x', '-y', '+z']);
  expect(changeInParameters('{"edits":[{"old_string":"a","new_string":"b"}]}').map((it) => it.sign + it.text)).toEqual(['-a', '+b']);
  expect(changeInParameters('cut off {')).toEqual([]);
});

test('changed files make a tree, and directories say what is below them', () => {
  const file = (path: string, status: string, added: number): ChangedFile => ({ path, status, kind: 'file', added, removed: 1 });
  const files = [file('Cargo.toml', 'M', 1), file('src/auth/a.rs', 'A', 2), file('src/auth/b.rs', 'A', 3), file('src/lib.rs', 'M', 4)];
  const rows = changedRows(files, new Set(), '');
  expect(rows.map((it) => `${'  '.repeat(it.depth)}${it.name}`)).toEqual(['src', '  auth', '    a.rs', '    b.rs', '  lib.rs', 'Cargo.toml']);
  expect(rows[0]?.below).toEqual({ changed: 3, added: 9, removed: 3, letter: 'M' });
  expect(rows[1]?.below?.letter).toBe('A');
  expect(changedRows(files, new Set(['src']), '').length).toBe(2);
  expect(changedRows(files, new Set(), 'AUTH b').map((it) => it.path)).toEqual(['src/auth', 'src/auth/b.rs']);
});

test('two runs part at the first step that differs', () => {
  expect(divergence(calls, calls)).toBe(-1);
  expect(divergence(calls, calls.slice(0, 3))).toBe(3);
  expect(divergence(calls, [calls[0] as CallSummary, call(2, { about: 'other' })])).toBe(1);
});

test('every part of an item has a path', () => {
  expect(paths({ a: [1, { 'b c': null }], d: {} })).toEqual([{ path: '$.a[0]', text: '1' }, { path: '$.a[1]["b c"]', text: 'null' }, { path: '$.d', text: '{}' }]);
});
