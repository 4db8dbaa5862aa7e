// The run screen: timeline, files, difference, inspector and events of one run, all from the address.

import { useEffect, useMemo, useRef, useState, type PointerEvent as ReactPointer } from 'react';
import { get, runPath } from '../client.ts';
import { useFetched, useRun } from '../data.ts';
import { useKeys } from '../keys.ts';
import type { CallDetail, ChangeList, FileDiff, Rows as RowsPage, SnapshotSummary } from '../types.ts';
import { count, plain } from '../text.ts';
import { go, link, set, usePlace } from '../url.ts';
import { Icon, Name, Segments, copy, toast, useKept } from '../ui.tsx';
import { ForkSheet, RestoreSheet, RevertSheet, undo } from './actions.tsx';
import { Coach } from './Coach.tsx';
import { Diff, type DiffHandle } from './Diff.tsx';
import { patchOf } from './diffRows.ts';
import { Events } from './Events.tsx';
import { Files } from './Files.tsx';
import { FileHistory, FileText, Hex } from './FileView.tsx';
import { Inspector } from './Inspector.tsx';
import {
  changeBefore, changeInParameters, filtered, indexAt, indexOfState, pairOfCall, type Mode,
} from './model.ts';
import { Timeline } from './Timeline.tsx';

type Tab = 'diff' | 'file' | 'history' | 'raw';
type Ask = 'fork' | 'restore' | 'revert' | null;

export function Run({ name, theme }: { name: string; theme: string }) {
  const data = useRun(name);
  const { query } = usePlace();
  const { detail, calls, version } = data;
  const [ask, setAsk] = useState<Ask>(null);
  const [filter, setFilter] = useState('');
  const [isFiltering, setFiltering] = useState(false);
  const [expandAll, setExpandAll] = useState(false);
  const [isSearching, setSearching] = useState(false);
  const [isFollowing, setFollowing] = useState(true);
  const [viewKept, setView] = useKept('view', 'split');
  const [hidden, setHidden] = useKept('hidden', '');
  const [widths, setWidths] = useKept('widths', '272,344');
  const [drawer, setDrawer] = useState(false);
  const [pane, setPane] = useState<'files' | 'diff' | 'inspector'>('diff');
  const [diff, setDiff] = useState<FileDiff | null>(null);
  const diffHandle = useRef<DiffHandle | null>(null);

  const snapshots = detail?.snapshots_list ?? [];
  const a = query['a'] ?? detail?.default_a ?? 'empty';
  const b = query['b'] ?? detail?.default_b ?? '@';
  const selected = query['ev'] ?? '';
  const view = query['view'] ?? viewKept;
  const callIndex = useMemo(() => (selected === '' ? -1 : calls.findIndex((it) => it.id === selected)), [calls, selected]);
  const call = callIndex < 0 ? null : calls[callIndex] ?? null;
  const snapshot = call === null ? snapshots.find((it) => it.id === query['snap']) ?? null : null;

  const callDetail = useFetched(call === null ? '' : `${name}\n${call.id}\n${version}`,
    (signal) => get<CallDetail>(runPath(name, `/calls/${encodeURIComponent(call?.id ?? '')}`), {}, signal));
  const ofCall = callDetail.value?.id === call?.id ? callDetail.value : null;
  const callPair = call === null ? null : pairOfCall(call, ofCall, snapshots);
  const isCallKnown = call === null || ofCall !== null || callDetail.error !== null;

  const mode = (query['mode'] ?? (call?.changed === true || (call !== null && !call.ok) ? 'call' : 'changed')) as Mode;
  const pair = mode === 'call' && callPair !== null && call !== null ? callPair : { a, b };
  const changesKey = (which: { a: string; b: string } | null, isWanted: boolean) =>
    (which === null || !isWanted || detail === null ? '' : [name, which.a, which.b, version].join('\n'));
  const ranged = useFetched(changesKey({ a, b }, hasStates(detail?.kind, snapshots.length, a)),
    (signal) => get<ChangeList>(runPath(name, '/changes'), { a, b }, signal));
  const called = useFetched(changesKey(callPair, call?.changed === true && isCallKnown),
    (signal) => get<ChangeList>(runPath(name, '/changes'), { a: callPair?.a, b: callPair?.b }, signal));
  const all = useFetched(detail === null ? '' : `${name}\n${b}\n${version}`,
    (signal) => get<RowsPage>(runPath(name, '/rows'), { at: b, limit: 1 }, signal));

  // Without the call's own states, those around it narrow down to the paths that it names.
  const callChanges = useMemo(() => {
    const list = called.value;
    if (list === null || call === null || callPair === null || callPair.exact) return list;
    const own = list.files.filter((it) => it.path === call.about || it.path.startsWith(`${call.about}/`));
    return own.length > 0 ? { ...list, files: own, total: own.length } : list;
  }, [called.value, call, callPair?.exact]);
  const changes = mode === 'call' ? (call?.changed === true ? callChanges : null) : ranged.value;

  const firstFile = changes?.files.find((it) => it.kind !== 'directory')?.path ?? '';
  const wanted = query['file'] ?? '';
  const about = wanted === '' && call !== null && !call.changed ? call.about : wanted;
  const path = mode === 'all' ? wanted
    : mode === 'changed' && about !== wanted && ranged.value?.files.some((it) => it.path === about) ? about
    : changes?.files.some((it) => it.path === wanted) ? wanted
      : changes === null ? (mode === 'call' ? '' : wanted) : firstFile;
  const change = changes?.files.find((it) => it.path === path);
  const tab = (query['tab'] ?? (mode === 'all' && change === undefined ? 'file' : 'diff')) as Tab;

  const from = Math.min(indexOfState(a, calls, snapshots), indexOfState(b, calls, snapshots));
  const to = Math.max(indexOfState(a, calls, snapshots), indexOfState(b, calls, snapshots));
  const eventFilter = query['events'] ?? '';
  const rangeOnly = query['range'] === 'yes';
  const indices = useMemo(() => filtered(calls, eventFilter, from, to, rangeOnly), [calls, eventFilter, from, to, rangeOnly]);

  useEffect(() => {
    document.title = `${detail?.title ?? name} · wink`;
  }, [detail?.title, name]);

  const selectCall = (id: string) => {
    setFollowing(false);
    setDrawer(true);
    set({ ev: id === '' ? undefined : id, snap: undefined, mode: undefined, file: undefined, line: undefined, tab: undefined });
  };
  const selectSnapshot = (it: SnapshotSummary) => {
    const previous = it.parent !== null && snapshots.some((other) => other.id === it.parent) ? it.parent
      : snapshots.filter((other) => other.fork === it.fork && other.at < it.at).at(-1)?.id ?? 'empty';
    setFollowing(false);
    setDrawer(true);
    set({ snap: it.id, ev: undefined, a: previous, b: it.id, mode: 'changed', file: undefined, line: undefined, tab: undefined });
  };
  const step = (by: number) => {
    const at = callIndex < 0 ? (by > 0 ? -1 : calls.length) : callIndex;
    const next = calls[Math.max(0, Math.min(calls.length - 1, at + by))];
    if (next !== undefined) selectCall(next.id);
  };
  const stepEvent = (by: number) => {
    const at = indices.indexOf(callIndex);
    const next = calls[indices[at < 0 ? (by > 0 ? 0 : indices.length - 1) : Math.max(0, Math.min(indices.length - 1, at + by))] ?? -1];
    if (next !== undefined) selectCall(next.id);
  };
  const stepSnapshot = (by: number) => {
    const own = snapshots.filter((it) => it.fork === null);
    const at = snapshot === null ? own.findIndex((it) => it.id === (call?.before ?? '')) : own.indexOf(snapshot);
    const next = own[at < 0 ? (by > 0 ? 0 : own.length - 1) : Math.max(0, Math.min(own.length - 1, at + by))];
    if (next !== undefined) selectSnapshot(next);
  };
  const stepFile = (by: number) => {
    const files = changes?.files.filter((it) => it.kind !== 'directory') ?? [];
    const at = files.findIndex((it) => it.path === path);
    const next = files[Math.max(0, Math.min(files.length - 1, at + by))];
    if (next !== undefined) set({ file: next.path, line: undefined });
  };
  /** The snapshot nearest to what is selected, before or after it. */
  const near = (isAfter: boolean): string => {
    if (snapshot !== null) return snapshot.id;
    if (call === null) return isAfter ? b : a;
    const own = snapshots.filter((it) => it.fork === null);
    return isAfter
      ? own.find((it) => indexAt(calls, it.at) > callIndex)?.id ?? '@'
      : own.findLast((it) => indexAt(calls, it.at) <= callIndex)?.id ?? 'empty';
  };
  /** The state to fork or to restore. */
  const here = snapshot !== null ? snapshot.id : call === null ? '@' : call.fork !== undefined ? `fork:${call.fork}` : near(false);
  const toggle = (part: string) => {
    const parts = new Set(hidden.split(',').filter((it) => it !== ''));
    if (!parts.delete(part)) parts.add(part);
    setHidden([...parts].join(','));
  };
  const isHidden = (part: string) => hidden.split(',').includes(part);
  const canChange = detail?.can_change === true;
  const askFor = (what: Ask) => {
    if (!canChange) toast('This is only shown, and cannot change.');
    else if (what === 'restore' && (here === '@' || here === 'empty' || here.startsWith('fork:'))) toast('There is no snapshot before this. Undo the call instead.');
    else setAsk(what);
  };
  const operation = ofCall?.operations.at(-1);
  const undoCall = () => {
    if (operation !== undefined && canChange && call?.fork === undefined) void undo(name, operation.sequence);
  };
  const compare = () => go(link('compare', '', { run: name, a: pair.a, b: pair.b }));

  useKeys({
    j: () => stepEvent(1), k: () => stepEvent(-1),
    ArrowRight: () => step(1), ArrowLeft: () => step(-1),
    'shift+ArrowRight': () => step(10), 'shift+ArrowLeft': () => step(-10),
    '[': () => stepSnapshot(-1), ']': () => stepSnapshot(1),
    a: () => set({ a: near(false), mode: 'changed' }), b: () => set({ b: near(true), mode: 'changed' }),
    n: () => diffHandle.current?.next(), p: () => diffHandle.current?.previous(),
    N: () => stepFile(1), P: () => stepFile(-1),
    u: () => setView(view === 'split' ? 'unified' : 'split'),
    f: () => askFor('fork'), r: () => askFor('restore'), c: compare, z: undoCall,
    t: () => setFiltering(true), e: () => { set({ mode: 'all' }); setExpandAll(!expandAll); },
    l: () => setFollowing(!isFollowing),
    '/': () => setSearching(true),
    Escape: () => (drawer || call !== null || snapshot !== null ? (setDrawer(false), set({ ev: undefined, snap: undefined, mode: undefined, file: undefined })) : undefined),
  });

  if (data.error !== null) {
    return <main className="message" role="alert"><h1>{data.error.status === 404 ? 'Nothing here has this name' : 'This cannot be shown'}</h1><p>{data.error.message}</p></main>;
  }
  if (detail === null) return <main className="message quiet"><p>Loading…</p></main>;

  const [left, right] = widths.split(',').map(Number);
  const resize = (side: 'left' | 'right') => (event: ReactPointer) => {
    const target = event.currentTarget;
    const start = event.clientX;
    target.setPointerCapture(event.pointerId);
    const moved = (it: globalThis.PointerEvent) => {
      const by = it.clientX - start;
      const next = side === 'left' ? [(left ?? 272) + by, right] : [left, (right ?? 344) - by];
      setWidths(next.map((width) => Math.max(180, Math.min(700, width ?? 300))).join(','));
    };
    const ended = () => {
      target.removeEventListener('pointermove', moved as EventListener);
      target.removeEventListener('pointerup', ended);
    };
    target.addEventListener('pointermove', moved as EventListener);
    target.addEventListener('pointerup', ended);
  };
  const columns = `${isHidden('files') ? '0' : `${left ?? 272}px`} minmax(0,1fr) ${isHidden('inspector') ? '0' : `${right ?? 344}px`}`;
  const own = mode === 'call' && changes === null && ofCall !== null && call?.changed ? changeInParameters(ofCall.parameters) : [];
  const shownA = pair.a;
  const shownB = pair.b;
  const fileState = change?.status === 'D' ? shownA : mode === 'all' ? b : shownB;

  return (
    <>
      <Timeline calls={calls} snapshots={snapshots} forks={detail.forks} a={a} b={b} selected={callIndex} theme={theme}
        onRange={(from, to) => set({ a: from, b: to, mode: 'changed', ev: undefined, snap: undefined, file: undefined })}
        onCall={(index) => selectCall(calls[index]?.id ?? '')} onSnapshot={selectSnapshot} following={isFollowing} onFollow={setFollowing} />
      <Coach detail={detail} calls={calls} call={call} isUndone={operation?.undone === true} onSelect={selectCall} />
      <div className="tabs-narrow" role="group" aria-label="Panes">
        {(['files', 'diff', 'inspector'] as const).map((it) => <button key={it} type="button" aria-pressed={pane === it} onClick={() => setPane(it)}>{it}</button>)}
      </div>
      <main className={`body show-${pane}${drawer ? ' drawer' : ''}`} style={{ gridTemplateColumns: columns }}>
        <section className="pane files" aria-label="Files" hidden={isHidden('files')}>
          <div className="bar">
            <Segments label="Which files" value={mode} onChoose={(it) => set({ mode: it, file: path })} choices={[
              ...(call === null ? [] : [{ value: 'call' as const, text: <>Call {changesCount(call.changed, callChanges)}</>, title: 'What this call changed' }]),
              { value: 'changed', text: <>Changed {ranged.value === null ? '' : count(ranged.value.total)}</>, title: 'What changed between A and B' },
              { value: 'all', text: <>All {all.value === null ? '' : count(all.value.files)}</>, title: 'All files at B' },
            ]} />
            <span className="sp" />
            {mode === 'all' && <button type="button" aria-pressed={expandAll} title="Expand all (e)" aria-label="Expand all directories" onClick={() => setExpandAll(!expandAll)}><Icon d="M4 6l4-4 4 4M4 10l4 4 4-4" /></button>}
            <button type="button" aria-label="Filter files" title="Filter (t)" aria-pressed={isFiltering} onClick={() => setFiltering(!isFiltering)}>/</button>
          </div>
          {isFiltering && (
            <div className="bar">
              <input autoFocus type="search" aria-label="Filter files" placeholder="part of a path" value={filter} onChange={(event) => setFilter(event.target.value)}
                onKeyDown={(event) => { if (event.key === 'Escape') { setFilter(''); setFiltering(false); } }} />
            </div>
          )}
          <Files run={name} mode={mode} state={b} changes={changes} loading={ranged.loading || called.loading} selected={path} version={version}
            filter={filter} expandAll={expandAll} onSelect={(file) => { set({ file, line: undefined, ...(mode === 'all' ? {} : { tab: tab === 'history' ? 'diff' : query['tab'] }) }); setPane('diff'); }} />
          <div className="grip right" onPointerDown={resize('left')} aria-hidden="true" />
        </section>
        <section className="pane centre" aria-label="File">
          <div className="bar">
            <button type="button" className="quiet" aria-label={isHidden('files') ? 'Show the files' : 'Hide the files'} onClick={() => toggle('files')}>{isHidden('files') ? '▸' : '◂'}</button>
            <span className="path mono" title={path}>{path === '' ? '' : <Name>{path}</Name>}</span>
            {diff?.lines && tab === 'diff' && path !== '' && <span className="mono counts"><span className="ok">+{diff.lines.added}</span> <span className="del-t">−{diff.lines.removed}</span></span>}
            <span className="sp" />
            {tab === 'diff' && (
              <>
                <button type="button" className="quiet" title="Copy the patch" aria-label="Copy the patch" disabled={!diff?.lines} onClick={() => { if (diff) void copy(patchOf(diff, change?.from ?? path)); }}><Icon d="M5 5V2h9v9h-3M2 5h9v9H2z" /></button>
                <button type="button" className="quiet" title="Ignore blanks around lines" aria-label="Ignore blanks around lines" aria-pressed={query['blanks'] === 'ignore'} onClick={() => set({ blanks: query['blanks'] === 'ignore' ? undefined : 'ignore' })}><Icon d="M2 8v4h12V8M5 5h6" /></button>
                <Segments label="View" value={view} onChoose={(it) => { setView(it); set({ view: undefined }); }} choices={[{ value: 'split', text: 'Split' }, { value: 'unified', text: 'Unified' }]} />
              </>
            )}
            <Segments label="What to show of the file" value={tab} onChoose={(it) => set({ tab: it })} choices={[
              { value: 'diff', text: 'Diff' }, { value: 'file', text: 'File' }, { value: 'history', text: 'History' }, { value: 'raw', text: 'Raw' },
            ]} />
            <button type="button" className="quiet" aria-label={isHidden('inspector') ? 'Show the inspector' : 'Hide the inspector'} onClick={() => { toggle('inspector'); setDrawer(!drawer); }}>{isHidden('inspector') ? '◂' : '▸'}</button>
          </div>
          {path === '' ? <Nothing detailKind={detail.kind} call={call} rows={own} isLoading={called.loading || !isCallKnown} calls={calls.length} notes={detail.notes} />
            : tab === 'diff' ? <Diff run={name} a={shownA} b={shownB} path={path} from={change?.from} split={view === 'split'} ignoresBlanks={query['blanks'] === 'ignore'}
              version={version} line={query['line'] === undefined ? undefined : Number(query['line'])} handle={diffHandle} onDiff={setDiff} />
              : tab === 'file' ? <FileText run={name} state={fileState} path={path} version={version} theme={theme} line={query['line'] === undefined ? undefined : Number(query['line'])} />
                : tab === 'raw' ? <Hex run={name} state={fileState} path={path} version={version} />
                  : <FileHistory run={name} path={path} snapshots={snapshots} calls={calls} onCall={selectCall}
                    onSnapshot={(from, to) => set({ a: from, b: to, mode: 'changed', tab: 'diff', ev: undefined, snap: to })} />}
        </section>
        <aside className="pane inspector" aria-label="Inspector" hidden={isHidden('inspector') && !drawer}>
          <div className="grip left" onPointerDown={resize('right')} aria-hidden="true" />
          <Inspector detail={detail} call={call} callDetail={ofCall} snapshot={snapshot} pair={pair} callPair={callPair} path={path}
            blamed={call === null || call.ok ? undefined : changeBefore(calls, callIndex)} onSelect={selectCall}
            onFork={() => askFor('fork')} onRestore={() => askFor('restore')} onUndo={(it) => void undo(name, it)} onRevert={() => askFor('revert')}
            onCompare={compare} onClose={() => { setDrawer(false); set({ ev: undefined, snap: undefined, mode: undefined, file: undefined }); }} />
        </aside>
      </main>
      {isHidden('events')
        ? <button type="button" className="show-events" onClick={() => toggle('events')}>▴ Events</button>
        : <Events detail={detail} calls={calls} indices={indices} selected={selected} filter={eventFilter} rangeOnly={rangeOnly} following={isFollowing} searching={isSearching}
          onFilter={(it) => set({ events: it })} onRangeOnly={(it) => set({ range: it ? 'yes' : undefined })} onSelect={selectCall} onFollow={setFollowing}
          onSearching={setSearching} onHide={() => toggle('events')} />}
      {ask === 'fork' && <ForkSheet run={name} at={here} forks={detail.forks} snapshots={snapshots} onClose={() => setAsk(null)} />}
      {ask === 'restore' && <RestoreSheet run={name} to={here} path={path} snapshots={snapshots} onClose={() => setAsk(null)} />}
      {ask === 'revert' && <RevertSheet run={name} a={a} b={b} snapshots={snapshots} onClose={() => setAsk(null)} />}
    </>
  );
}

/** Whether there are two states to compare: an archive has one. */
function hasStates(kind: string | undefined, snapshots: number, a: string): boolean {
  return kind === 'live' || snapshots > 0 || a !== 'empty';
}

function changesCount(hasChanged: boolean, list: ChangeList | null): string {
  if (!hasChanged) return '0';
  return list === null ? '' : count(list.total);
}

function Nothing({ detailKind, call, rows, isLoading, calls, notes }: {
  detailKind: string; call: { ok: boolean; changed: boolean; kind: string } | null; rows: { sign: string; text: string }[]; isLoading: boolean; calls: number; notes: string[];
}) {
  if (isLoading) return <p className="empty quiet">Comparing…</p>;
  if (rows.length > 0) {
    return (
      <div className="scroll" tabIndex={0} role="group" aria-label="The change as the call's parameters tell it">
        <p className="foot">No states around this call were kept. This is the change that its parameters ask for:</p>
        <div className="diff plain">{rows.slice(0, 500).map((row, at) => (
          <div key={at} className={`ln ${row.sign === '+' ? 'add' : row.sign === '-' ? 'del' : ''}`}><b>{row.sign}</b><span className="tx">{plain(row.text)}</span></div>
        ))}</div>
      </div>
    );
  }
  if (call !== null) {
    return <p className="empty quiet">{call.ok ? (call.kind === 'read' ? 'This call only read.' : 'This call changed no file.') : 'This call failed and changed no file.'}</p>;
  }
  if (detailKind === 'live' && calls === 0) {
    return (
      <div className="empty">
        <p>Nothing has happened here yet.</p>
        <p className="quiet">Run <code>wink demo</code> in a second terminal, and watch this page.</p>
      </div>
    );
  }
  return (
    <div className="empty quiet">
      <p>Choose a file.</p>
      {notes.map((note) => <p key={note} className="note">{plain(note)}</p>)}
    </div>
  );
}
