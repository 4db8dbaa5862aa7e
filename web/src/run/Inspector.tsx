// What is selected: a call with its parameters and result, or a snapshot; and what can be done about it.

import type { ReactNode } from 'react';
import type { CallDetail, CallSummary, RunDetail, SnapshotSummary } from '../types.ts';
import { bytes, clock, count, counted, duration, plain, pretty, snapshotName, stateName, status } from '../text.ts';
import { link } from '../url.ts';
import { A, Name } from '../ui.tsx';
import { CopyCommand } from './actions.tsx';
import type { CallPair, Pair } from './model.ts';

interface InspectorProps {
  detail: RunDetail;
  call: CallSummary | null;
  callDetail: CallDetail | null;
  snapshot: SnapshotSummary | null;
  pair: Pair;
  callPair: CallPair | null;
  path: string;
  blamed: CallSummary | undefined;
  onSelect: (id: string) => void;
  onFork: () => void;
  onRestore: () => void;
  onUndo: (operation: number) => void;
  onRevert: () => void;
  onCompare: () => void;
  onClose: () => void;
}

export function Inspector(props: InspectorProps) {
  const { call, snapshot } = props;
  if (call !== null) return <OfCall {...props} call={call} />;
  if (snapshot !== null) return <OfSnapshot {...props} snapshot={snapshot} />;
  return <OfRun {...props} />;
}

function Head({ title, children, onClose }: { title: string; children?: ReactNode; onClose: () => void }) {
  return (
    <div className="bar">
      <h2 className="mono">{plain(title)}</h2>{children}
      <button type="button" className="quiet close" aria-label="Close the inspector" onClick={onClose}>×</button>
    </div>
  );
}

function OfCall(props: InspectorProps & { call: CallSummary }) {
  const { detail, call, callDetail, callPair, path, blamed } = props;
  const operation = callDetail?.operations.at(-1);
  const changes = callDetail?.operations.flatMap((it) => it.changes) ?? [];
  const snapshotId = call.after ?? call.before;
  const snapshot = detail.snapshots_list.find((it) => it.id === snapshotId);
  const snapshotWord = call.after !== undefined && call.after !== call.before ? 'Snapshot' : 'Since';
  return (
    <>
      <Head title={call.tool} onClose={props.onClose}>
        <span className={call.ok ? 'ok' : 'fail'}>{status(call)}</span>
        <span className="sp" />
        <span className="mono quiet">{call.us > 0 ? duration(call.us) : ''}</span>
      </Head>
      <div className="scroll" tabIndex={0} role="group" aria-label="Details of the call">
        <dl className="kv">
          <dt>When</dt><dd>{clock(call.at, true)}{(call.turn ?? 0) > 0 && ` (turn ${call.turn})`}</dd>
          {call.about !== '' && <><dt>About</dt><dd className="mono"><Name>{call.about}</Name></dd></>}
          {call.fork !== undefined && <><dt>Fork</dt><dd><A to={link('compare', '', { run: detail.name, a: `fork:${call.fork}`, b: '@' })}>{call.fork}</A></dd></>}
          {snapshot !== undefined && <><dt>{snapshotWord}</dt><dd className="sn">◆ {snapshotName(snapshot)}</dd></>}
          {changes.length > 0 && <><dt>Changed</dt><dd>{counted(changes.length, 'path', 'paths')}{operation?.undone && <span className="warn"> · undone</span>}</dd></>}
          {snapshotWord === 'Snapshot' && snapshot?.stored !== null && snapshot !== undefined && <><dt>Store</dt><dd>+{bytes(snapshot.stored ?? 0)}</dd></>}
          {call.session !== undefined && <><dt>Session</dt><dd><A to={link('session', detail.name, { session: call.session })}><Name>{call.session}</Name></A></dd></>}
          {callDetail?.by && <><dt>By</dt><dd className="quiet"><Name>{callDetail.by}</Name></dd></>}
        </dl>
        {!call.ok && (
          <div className="why" role="note">
            <b>This call failed{call.kind === 'exec' ? '.' : ' and changed nothing.'}</b>
            {callDetail !== null && callDetail.result !== '' && <p>{plain(callDetail.result)}</p>}
            {blamed !== undefined && (
              <p>The last change before it: <button type="button" className="link" onClick={() => props.onSelect(blamed.id)}>{plain(blamed.tool)} {plain(blamed.about)}</button></p>
            )}
          </div>
        )}
        {callDetail !== null && callDetail.parameters !== '{}' && (
          <Text label="Parameters" text={pretty(callDetail.parameters)} full={callDetail.parameters_bytes} shown={callDetail.parameters.length} />
        )}
        <Actions {...props}>
          {operation !== undefined && detail.can_change && call.fork === undefined && !operation.undone && operation.changes.length > 0 && (
            <button type="button" onClick={() => props.onUndo(operation.sequence)}>Undo this call<kbd>Z</kbd></button>
          )}
          <CopyCommand detail={detail} a={callPair?.a ?? props.pair.a} b={callPair?.b ?? props.pair.b} path={path} />
        </Actions>
        {callPair !== null && !callPair.exact && call.changed && (
          <p className="foot">Shown: all that changed from {stateName(callPair.a, detail.snapshots_list)} to {stateName(callPair.b, detail.snapshots_list)}; what this call alone changed is not kept.</p>
        )}
        {call.ok && callDetail !== null && callDetail.result !== '' && (
          <Text label={call.kind === 'exec' ? 'Output' : 'Result'} text={callDetail.result} full={callDetail.result_bytes} shown={callDetail.result.length} />
        )}
        {detail.kind === 'dump' && <p className="foot"><A to={link('session', detail.name, { slice: 'tool_invoked' })}>The raw record in the session</A></p>}
      </div>
    </>
  );
}

function Text({ label, text, full, shown }: { label: string; text: string; full: number; shown: number }) {
  return (
    <>
      <h3>{label}{full > shown && <span className="quiet"> · the first {bytes(shown)} of {bytes(full)}</span>}</h3>
      <pre tabIndex={0}>{text.split('\n').map((line) => plain(line.replaceAll('\t', '  '))).join('\n')}</pre>
    </>
  );
}

function Actions({ detail, onFork, onRestore, onRevert, onCompare, snapshot, children }: InspectorProps & { children: ReactNode }) {
  return (
    <div className="acts">
      {detail.can_change && <button type="button" className="pri" data-coach="fork" onClick={onFork}>Fork here…<kbd>F</kbd></button>}
      {detail.can_change && <button type="button" onClick={onRestore}>Restore to here…<kbd>R</kbd></button>}
      {detail.can_change && snapshot !== null && <button type="button" onClick={onRevert}>Revert this step…</button>}
      <button type="button" data-coach="compare" onClick={onCompare}>{snapshot === null ? 'Compare' : 'Compare with previous'}<kbd>C</kbd></button>
      {children}
    </div>
  );
}

function OfSnapshot(props: InspectorProps & { snapshot: SnapshotSummary }) {
  const { detail, snapshot, pair, path } = props;
  return (
    <>
      <Head title={snapshotName(snapshot)} onClose={props.onClose}>
        <span className="sn">◆ snapshot</span>
        <span className="sp" />
      </Head>
      <div className="scroll" tabIndex={0} role="group" aria-label="Details of the snapshot">
        <dl className="kv">
          <dt>When</dt><dd>{clock(snapshot.at, true)}</dd>
          <dt>Id</dt><dd className="mono" title={snapshot.id}>{snapshot.short}</dd>
          {snapshot.message !== null && <><dt>Why</dt><dd>{plain(snapshot.message)}</dd></>}
          <dt>Taken by</dt><dd>{{ user: 'a person', agent: 'an agent', auto: 'wink', safety: 'wink, before a restore' }[snapshot.origin] ?? snapshot.origin}</dd>
          <dt>Files</dt><dd>{count(snapshot.files)} · {bytes(snapshot.bytes)}</dd>
          {snapshot.stored !== null && <><dt>Store</dt><dd>+{bytes(snapshot.stored)}</dd></>}
          {snapshot.excluded.length > 0 && <><dt>Excluded</dt><dd className="mono">{snapshot.excluded.map(plain).join(', ')}</dd></>}
        </dl>
        {snapshot.missing.length > 0 && (
          <div className="why" role="note"><b>Incomplete.</b> {snapshot.missing.slice(0, 20).map((it) => <p key={it.path}><Name>{it.path}</Name>: {it.why}</p>)}</div>
        )}
        <Actions {...props}><CopyCommand detail={detail} a={pair.a} b={pair.b} path={path} /></Actions>
      </div>
    </>
  );
}

function OfRun({ detail, pair, path, onFork, onClose, ...rest }: InspectorProps) {
  return (
    <>
      <Head title={detail.kind === 'live' ? 'workspace' : detail.kind} onClose={onClose}><span className="sp" /></Head>
      <div className="scroll" tabIndex={0} role="group" aria-label="Details of the run">
        <dl className="kv">
          <dt>What</dt><dd><Name>{detail.title}</Name></dd>
          {detail.backend !== null && <><dt>Files</dt><dd>{detail.backend === 'in_memory' ? 'in memory' : detail.backend}</dd></>}
          <dt>Calls</dt><dd>{count(detail.calls)}{detail.failed > 0 && <span className="fail"> · {detail.failed} failed</span>}</dd>
          <dt>Range</dt><dd>{stateName(pair.a, detail.snapshots_list)} → {stateName(pair.b, detail.snapshots_list)}</dd>
        </dl>
        {detail.notes.map((note) => <p key={note} className="note" role="note">{plain(note)}</p>)}
        <div className="acts">
          {detail.can_change && <button type="button" className="pri" onClick={onFork}>Fork here…<kbd>F</kbd></button>}
          <button type="button" onClick={rest.onCompare}>Compare<kbd>C</kbd></button>
          <CopyCommand detail={detail} a={pair.a} b={pair.b} path={path} />
        </div>
        <p className="foot">Select a call in the timeline or below to see what it did.</p>
      </div>
    </>
  );
}
