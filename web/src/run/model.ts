// What is selected on the run screen, and what follows from it.

import type { CallDetail, CallSummary, RunDetail, SnapshotSummary } from '../types.ts';

export type Mode = 'call' | 'changed' | 'all';

/** Two states to compare. */
export interface Pair {
  a: string;
  b: string;
}

/** The states that have what a call changed between them, as far as that is known. */
export interface CallPair extends Pair {
  /** Whether nothing else happened between them. */
  exact: boolean;
}

/** Finds the states before and after a call. */
export function pairOfCall(call: CallSummary, detail: CallDetail | null, snapshots: SnapshotSummary[]): CallPair | null {
  const [first] = detail?.operations ?? [];
  const last = detail?.operations.at(-1);
  if (first !== undefined && last !== undefined && detail?.id === call.id) {
    // A call makes one operation; of more, the last one is shown.
    return { a: last.a, b: last.b, exact: detail.operations.length === 1 };
  }
  if (snapshots.length === 0) return null;
  if (call.after !== undefined && call.before !== call.after) {
    return { a: call.before ?? 'empty', b: call.after, exact: false };
  }
  const next = snapshots.find((it) => it.fork === null && it.at >= call.at && it.id !== call.before);
  return { a: call.before ?? 'empty', b: next?.id ?? '@', exact: false };
}

/** Where a moment lies among the calls: the number of calls that began before it. */
export function indexAt(calls: CallSummary[], at: number): number {
  let low = 0;
  let high = calls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((calls[middle]?.at ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where a state lies among the calls. */
export function indexOfState(state: string, calls: CallSummary[], snapshots: SnapshotSummary[]): number {
  if (state === '@') return calls.length;
  if (state === 'empty') return 0;
  const snapshot = snapshots.find((it) => it.id === state || it.tag === state || it.short === state);
  return snapshot === undefined ? calls.length : indexAt(calls, snapshot.at);
}

/** The states nearest around a part of the calls. */
export function statesAround(from: number, to: number, calls: CallSummary[], snapshots: SnapshotSummary[]): Pair {
  const own = snapshots.filter((it) => it.fork === null);
  const before = own.findLast((it) => indexAt(calls, it.at) <= from);
  const after = own.find((it) => indexAt(calls, it.at) >= to && it.id !== before?.id);
  return { a: before?.id ?? 'empty', b: after?.id ?? '@' };
}

/** The calls that an event filter lets through, as indices. */
export function filtered(
  calls: CallSummary[], filter: string, from: number, to: number, isRangeOnly: boolean,
): number[] {
  const indices: number[] = [];
  const words = filter.startsWith('~') ? filter.slice(1).toLowerCase() : '';
  for (let index = 0; index < calls.length; index += 1) {
    const call = calls[index];
    if (call === undefined) continue;
    if (isRangeOnly && (index < from || index >= to)) continue;
    if (filter === 'writes' && (call.kind === 'read' || !call.changed)) continue;
    if (filter === 'failed' && call.ok) continue;
    if (words !== '' && !`${call.tool} ${call.about} ${call.code ?? ''}`.toLowerCase().includes(words)) continue;
    indices.push(index);
  }
  return indices;
}

/** The last call before another one that changed files of the same fork. */
export function changeBefore(calls: CallSummary[], index: number): CallSummary | undefined {
  const call = calls[index];
  return calls.slice(0, index).findLast((it) => it.ok && it.changed && it.kind !== 'read' && it.fork === call?.fork
    && it.tool !== 'snapshot' && it.tool !== 'fork');
}

/** Rows of a changed text as its call's own parameters tell them: for a run whose states were not kept. */
export function changeInParameters(parameters: string): { sign: '+' | '-' | ' '; text: string }[] {
  let value: unknown;
  try {
    value = JSON.parse(parameters);
  } catch {
    return [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const rows: { sign: '+' | '-' | ' '; text: string }[] = [];
  const add = (sign: '+' | '-', text: unknown) => {
    if (typeof text === 'string') text.replace(/\n$/, '').split('\n').forEach((line) => rows.push({ sign, text: line }));
  };
  const one = (edit: Record<string, unknown>) => {
    add('-', edit['old_string'] ?? edit['old_str']);
    add('+', edit['new_string'] ?? edit['new_str'] ?? edit['content']);
  };
  const all = value as Record<string, unknown>;
  one(all);
  if (Array.isArray(all['edits'])) {
    for (const edit of all['edits'] as unknown[]) {
      if (rows.length > 0) rows.push({ sign: ' ', text: '' });
      if (typeof edit === 'object' && edit !== null) one(edit as Record<string, unknown>);
    }
  }
  if (typeof all['patch'] === 'string') {
    for (const line of all['patch'].split('\n')) {
      const sign = line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' ';
      rows.push({ sign, text: sign === ' ' ? line : line.slice(1) });
    }
  }
  return rows;
}

export function isLive(detail: RunDetail | null): boolean {
  return detail?.kind === 'live';
}
