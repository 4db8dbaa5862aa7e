// Any two states, also of two runs: the files that differ, and their differences one below the other.

import { useEffect, useMemo, useState } from 'react';
import { get, runPath } from '../client.ts';
import { useFetched, useRun } from '../data.ts';
import { useKeys } from '../keys.ts';
import { Diff } from '../run/Diff.tsx';
import { Files } from '../run/Files.tsx';
import type { CallSummary, ChangeList, RunDetail, RunSummary } from '../types.ts';
import { clock, count, counted, plain, snapshotName } from '../text.ts';
import { go, link, set, usePlace } from '../url.ts';
import { A, Name, Segments, useKept } from '../ui.tsx';

/** How many differences are shown at once; the rest is opened one by one. */
const SHOWN = 20;

function states(detail: RunDetail | null): { value: string; text: string }[] {
  if (detail === null) return [];
  return [
    { value: '@', text: 'now' },
    ...detail.forks.map((name) => ({ value: `fork:${name}`, text: `fork ${name}` })),
    ...detail.snapshots_list.toReversed().map((it) => ({ value: it.id, text: `◆ ${snapshotName(it)} · ${clock(it.at)}` })),
    { value: 'empty', text: 'the beginning' },
  ];
}

function StateChoice({ label, run, runs, state, detail, onRun, onState }: {
  label: string; run: string; runs: RunSummary[]; state: string; detail: RunDetail | null; onRun: (run: string) => void; onState: (state: string) => void;
}) {
  const all = states(detail);
  const isListed = all.some((it) => it.value === state);
  return (
    <span className="choice">
      <b>{label}</b>
      {runs.length > 1 && (
        <select aria-label={`Run of ${label}`} value={run} onChange={(event) => onRun(event.target.value)}>
          {runs.map((it) => <option key={it.name} value={it.name}>{it.name}</option>)}
        </select>
      )}
      <select aria-label={`State ${label}`} value={state} onChange={(event) => onState(event.target.value)}>
        {!isListed && <option value={state}>{plain(state)}</option>}
        {all.map((it) => <option key={it.value} value={it.value}>{it.text}</option>)}
      </select>
    </span>
  );
}

/** The first step at which two runs differ: the tool, what it was about, or whether it worked. */
export function divergence(first: CallSummary[], second: CallSummary[]): number {
  const same = (x: CallSummary | undefined, y: CallSummary | undefined) =>
    x !== undefined && y !== undefined && x.tool === y.tool && x.about === y.about && x.ok === y.ok && x.fork === y.fork;
  const most = Math.max(first.length, second.length);
  for (let at = 0; at < most; at += 1) if (!same(first[at], second[at])) return at;
  return -1;
}

export function Compare() {
  const { query } = usePlace();
  const list = useFetched('runs', (signal) => get<RunSummary[]>('/runs', {}, signal));
  const all = list.value ?? [];
  const run = query['run'] ?? all[0]?.name ?? '';
  if (list.error !== null) return <main className="message" role="alert"><p>{list.error.message}</p></main>;
  if (run === '') return <main className="message quiet"><p>Loading…</p></main>;
  return <Compared run={run} other={query['in'] ?? run} runs={all} />;
}

function Compared({ run, other, runs }: { run: string; other: string; runs: RunSummary[] }) {
  const { query } = usePlace();
  const first = useRun(run);
  const second = useRun(other);
  const [view, setView] = useKept('view', 'split');
  const [closed, setClosed] = useState<Set<string>>(new Set());
  const [opened, setOpened] = useState<Set<string>>(new Set());
  const a = query['a'] ?? first.detail?.default_a ?? 'empty';
  const b = query['b'] ?? '@';
  const version = first.version + second.version;
  const key = first.detail === null ? '' : [run, other, a, b, version].join('\n');
  const inOther = other === run ? undefined : other;
  const changes = useFetched(key, (signal) => get<ChangeList>(runPath(run, '/changes'), { a, b, in: inOther }, signal));
  useEffect(() => {
    document.title = 'Compare · wink';
  }, []);
  const files = useMemo(() => changes.value?.files.filter((it) => it.kind !== 'directory') ?? [], [changes.value]);
  const added = files.reduce((sum, it) => sum + (it.added ?? 0), 0);
  const removed = files.reduce((sum, it) => sum + (it.removed ?? 0), 0);
  const selected = query['file'] ?? '';
  const show = (path: string) => {
    set({ file: path });
    setClosed((before) => new Set([...before].filter((it) => it !== path)));
    setOpened((before) => new Set([...before, path]));
    requestAnimationFrame(() => document.getElementById(`file-${path}`)?.scrollIntoView({ block: 'start' }));
  };
  const step = (by: number) => {
    const at = files.findIndex((it) => it.path === selected);
    const next = files[Math.max(0, Math.min(files.length - 1, at + by))];
    if (next !== undefined) show(next.path);
  };
  useKeys({
    n: () => step(1), p: () => step(-1), j: () => step(1), k: () => step(-1),
    u: () => setView(view === 'split' ? 'unified' : 'split'),
    Escape: () => go(link('run', run)),
  });
  const parted = run === other ? -1 : divergence(first.calls, second.calls);
  const at = parted < 0 ? undefined : first.calls[parted];
  const instead = parted < 0 ? undefined : second.calls[parted];
  return (
    <main className="compare">
      <div className="bar">
        <StateChoice label="A" run={run} runs={runs} state={a} detail={first.detail} onRun={(it) => set({ run: it, a: undefined })} onState={(it) => set({ a: it })} />
        <button type="button" aria-label="Exchange A and B" title="Exchange" onClick={() => set({ a: b, b: a, run: other, in: inOther === undefined ? undefined : run })}>⇄</button>
        <StateChoice label="B" run={other} runs={runs} state={b} detail={second.detail} onRun={(it) => set({ in: it === run ? undefined : it, b: undefined })} onState={(it) => set({ b: it })} />
        <span className="sp" />
        {changes.value !== null && (
          <span className="quiet">{counted(changes.value.total, 'file differs', 'files differ')} · <span className="ok">+{count(added)}</span> <span className="del-t">−{count(removed)}</span></span>
        )}
        <Segments label="View" value={view} onChoose={setView} choices={[{ value: 'split', text: 'Split' }, { value: 'unified', text: 'Unified' }]} />
      </div>
      {parted >= 0 && (
        <p className="note" role="note">
          The runs part at step {parted + 1}: {at ? <A to={link('run', run, { ev: at.id })}>{plain(at.tool)} {plain(at.about)}{at.ok ? '' : ' (failed)'}</A> : 'the first one ends'}
          {' '}/ {instead ? <A to={link('run', other, { ev: instead.id })}>{plain(instead.tool)} {plain(instead.about)}{instead.ok ? '' : ' (failed)'}</A> : 'the second one ends'}
        </p>
      )}
      <div className="compare-body">
        <section className="pane files" aria-label="Files that differ">
          <Files run={run} mode="changed" state={b} changes={changes.value} loading={changes.loading} selected={selected} version={version} filter="" expandAll={false} onSelect={show} />
        </section>
        <div className="all-diffs" tabIndex={0} role="group" aria-label="Differences">
          {changes.error !== null && <p className="empty" role="alert">{changes.error.message}</p>}
          {changes.value !== null && files.length === 0 && <p className="empty quiet">The two states have the same files.</p>}
          {files.slice(0, 400).map((file, index) => {
            const isOpen = !closed.has(file.path) && (index < SHOWN || opened.has(file.path));
            const lines = Math.min(34, (file.added ?? 20) + (file.removed ?? 20) + 8);
            return (
              <section key={file.path} id={`file-${file.path}`} className="one-diff" aria-label={plain(file.path)}>
                <h2 className="bar">
                  <button type="button" className="quiet" aria-expanded={isOpen} aria-label={isOpen ? 'Close' : 'Open'}
                    onClick={() => {
                      setOpened((before) => new Set([...before, file.path]));
                      setClosed((before) => {
                        const next = new Set(before);
                        if (isOpen) next.add(file.path);
                        else next.delete(file.path);
                        return next;
                      });
                    }}>{isOpen ? '▾' : '▸'}</button>
                  <span className={`b ${file.status}`}>{file.status}</span>
                  <span className="mono path"><Name>{file.path}</Name></span>
                  {file.added !== undefined && <span className="mono counts"><span className="ok">+{file.added}</span> <span className="del-t">−{file.removed}</span></span>}
                </h2>
                {isOpen && (
                  <div style={{ height: lines * 20 + 12 }} className="diff-box">
                    <Diff run={run} other={inOther} a={a} b={b} path={file.path} from={file.from} split={view === 'split'} ignoresBlanks={false} version={version} />
                  </div>
                )}
              </section>
            );
          })}
          {files.length > 400 && <p className="foot">The first 400 of {count(files.length)} files; the others open from the list.</p>}
        </div>
      </div>
    </main>
  );
}
