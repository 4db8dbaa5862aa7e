// What the server knows of a run, kept current by the stream.

import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { ApiError, address, get, runPath } from './client.ts';
import type { CallSummary, CallsPage, RunDetail } from './types.ts';

export type Connection = 'starting' | 'live' | 'away' | 'ended';

interface Happened {
  run: string;
  type: 'call' | 'snapshots' | 'files';
  call?: CallSummary;
}

export interface RunData {
  name: string;
  detail: RunDetail | null;
  calls: CallSummary[];
  /** How often the files of now changed, as far as known. */
  version: number;
  error: ApiError | null;
  /** Whether all calls were fetched. */
  complete: boolean;
}

type Listener = () => void;

/** How many calls are fetched at once. */
const PAGE = 5_000;

/** How long changes are collected before lists are fetched again. */
const SETTLE = 150;

class Runs {
  private data = new Map<string, RunData>();
  private listeners = new Set<Listener>();
  private source: EventSource | null = null;
  private timers = new Map<string, number>();
  connection: Connection = 'starting';
  /** Grows with every event, for the list of runs. */
  changes = 0;

  subscribe = (listener: Listener): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private tell(): void {
    this.listeners.forEach((listener) => listener());
  }

  get(name: string): RunData {
    let found = this.data.get(name);
    if (found === undefined) {
      found = { name, detail: null, calls: [], version: 0, error: null, complete: false };
      this.data.set(name, found);
      void this.load(name);
    }
    return found;
  }

  private change(name: string, changes: Partial<RunData>): void {
    const before = this.data.get(name);
    if (before === undefined) return;
    this.data.set(name, { ...before, ...changes });
    this.tell();
  }

  private async load(name: string): Promise<void> {
    try {
      // Both at once; the stream begins where the detail was made, and calls that come twice are one.
      const [detail, first] = await Promise.all([
        get<RunDetail>(runPath(name)),
        get<CallsPage>(runPath(name, '/calls'), { limit: PAGE }),
      ]);
      this.change(name, { detail, calls: first.calls, error: null, complete: first.total <= PAGE });
      this.listen(detail.event);
      for (let offset = PAGE; offset < first.total; offset += PAGE) {
        const page = await get<CallsPage>(runPath(name, '/calls'), { offset, limit: PAGE });
        this.merge(name, page.calls);
      }
      this.change(name, { complete: true });
    } catch (error) {
      if (error instanceof ApiError) this.change(name, { error });
    }
  }

  private merge(name: string, added: CallSummary[]): void {
    const before = this.data.get(name);
    if (before === undefined || added.length === 0) return;
    const known = new Set(before.calls.map((call) => call.id));
    const fresh = added.filter((call) => !known.has(call.id));
    if (fresh.length === 0) return;
    const last = before.calls.at(-1);
    const calls = [...before.calls, ...fresh];
    if (last !== undefined && fresh.some((call) => call.at < last.at)) calls.sort((a, b) => a.at - b.at);
    this.change(name, { calls });
  }

  private listen(after: string): void {
    if (this.source !== null) return;
    const source = new EventSource(address('/stream', { after }));
    this.source = source;
    source.onopen = () => this.connected('live');
    source.addEventListener('batch', (event) => {
      this.connected('live');
      this.heard(JSON.parse((event as MessageEvent<string>).data) as Happened[]);
    });
    source.addEventListener('gap', () => this.refetch());
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) void this.refused();
      else this.connected('away');
    };
  }

  /** The stream was refused: the server may have started anew, with other secrets. */
  private async refused(): Promise<void> {
    this.source = null;
    try {
      await get('/runs');
      this.refetch();
    } catch (error) {
      const isUnknown = error instanceof ApiError && error.status === 401;
      this.connected(isUnknown ? 'ended' : 'away');
      if (!isUnknown) setTimeout(() => void this.refused(), 2_000);
    }
  }

  private connected(connection: Connection): void {
    if (this.connection === connection) return;
    this.connection = connection;
    this.tell();
  }

  private heard(events: Happened[]): void {
    const calls = new Map<string, CallSummary[]>();
    for (const event of events) {
      if (event.type === 'call' && event.call) {
        calls.set(event.run, [...(calls.get(event.run) ?? []), event.call]);
      } else if (event.type === 'snapshots') {
        this.later(`${event.run} detail`, () => void this.reload(event.run));
      } else {
        this.later(`${event.run} files`, () => {
          const before = this.data.get(event.run);
          if (before) this.change(event.run, { version: before.version + 1 });
        });
      }
    }
    for (const [run, added] of calls) {
      this.merge(run, added);
      if (added.some((call) => call.tool === 'fork')) this.later(`${run} detail`, () => void this.reload(run));
    }
    this.changes += 1;
    this.tell();
  }

  private later(key: string, work: () => void): void {
    if (this.timers.has(key)) return;
    this.timers.set(key, window.setTimeout(() => {
      this.timers.delete(key);
      work();
    }, SETTLE));
  }

  async reload(name: string): Promise<void> {
    if (!this.data.has(name)) return;
    try {
      const detail = await get<RunDetail>(runPath(name));
      const before = this.data.get(name);
      this.change(name, { detail, version: (before?.version ?? 0) + 1 });
    } catch {
      // The stream tells when the server is there again.
    }
  }

  /** Fetches everything again. */
  refetch(): void {
    this.source?.close();
    this.source = null;
    this.changes += 1;
    for (const name of this.data.keys()) void this.load(name);
    if (this.data.size === 0) this.tell();
  }
}

export const runs = new Runs();

export function useRun(name: string): RunData {
  return useSyncExternalStore(runs.subscribe, () => runs.get(name));
}

export function useConnection(): Connection {
  return useSyncExternalStore(runs.subscribe, () => runs.connection);
}

export function useChanges(): number {
  return useSyncExternalStore(runs.subscribe, () => runs.changes);
}

export interface Loaded<T> {
  value: T | null;
  error: ApiError | null;
  loading: boolean;
}

/** Fetches something whenever its key changes; what was there stays until the new is. An empty key fetches nothing. */
export function useFetched<T>(key: string, fetch: (signal: AbortSignal) => Promise<T>, keep = true): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ value: null, error: null, loading: key !== '' });
  const latest = useRef(fetch);
  latest.current = fetch;
  useEffect(() => {
    if (key === '') {
      setState({ value: null, error: null, loading: false });
      return;
    }
    const abort = new AbortController();
    setState((before) => ({ value: keep ? before.value : null, error: null, loading: true }));
    latest.current(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ value, error: null, loading: false });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(0, 'page', String(error));
        setState({ value: null, error: known, loading: false });
      },
    );
    return () => abort.abort();
  }, [key, keep]);
  return state;
}
