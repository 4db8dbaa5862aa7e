// The difference of one file: lines, an image before and after, or why neither can be shown.

import { useEffect, useMemo, useRef, useState } from 'react';
import { address, get, runPath } from '../client.ts';
import { useFetched } from '../data.ts';
import { Rows, type RowsHandle } from '../rows.tsx';
import type { FileDiff, LineRow, LinesPage, Side } from '../types.ts';
import { bytes, count, plainLine } from '../text.ts';
import { failed } from '../ui.tsx';
import { changeStarts, diffRows, type Cell, type DiffRow, type Expanded } from './diffRows.ts';

const LINE = 20;

export interface DiffHandle {
  next: () => void;
  previous: () => void;
  diff: FileDiff | null;
}

interface DiffProps {
  run: string;
  /** The run of the second state, if it is another one. */
  other?: string | undefined;
  a: string;
  b: string;
  path: string;
  from?: string | undefined;
  split: boolean;
  ignoresBlanks: boolean;
  version: number;
  line?: number | undefined;
  handle?: { current: DiffHandle | null };
  onDiff?: (diff: FileDiff | null) => void;
}

export function Diff({ run, other, a, b, path, from, split, ignoresBlanks, version, line, handle, onDiff }: DiffProps) {
  const key = [run, other, a, b, path, from, ignoresBlanks, version].join('\n');
  const fetched = useFetched(key, (signal) => get<FileDiff>(runPath(run, '/diff'),
    { a, b, path, from, in: other, blanks: ignoresBlanks ? 'ignore' : undefined }, signal));
  const [expanded, setExpanded] = useState<Expanded>([]);
  const list = useRef<RowsHandle>(null);
  const at = useRef(-1);
  const diff = fetched.value !== null && fetched.value.path === path ? fetched.value : null;

  useEffect(() => {
    setExpanded([]);
    at.current = -1;
  }, [key]);
  useEffect(() => onDiff?.(diff), [diff]);

  const rows = useMemo(() => {
    const began = performance.now();
    const made = diff === null ? [] : diffRows(diff, split, expanded);
    performance.measure('diff-rows', { start: began, end: performance.now() });
    return made;
  }, [diff, split, expanded]);
  const starts = useMemo(() => changeStarts(rows), [rows]);

  useEffect(() => {
    if (rows.length === 0) return;
    const wanted = line === undefined ? -1
      : rows.findIndex((row) => row.kind === 'line' && row.new !== null && row.new.number >= line);
    if (wanted >= 0) list.current?.show(wanted, 'center');
  }, [line, rows.length > 0]);

  const go = (to: number) => {
    const start = starts[to];
    if (start === undefined) return;
    at.current = to;
    list.current?.show(start, 'center');
  };
  if (handle) {
    handle.current = {
      diff,
      next: () => go(Math.min(at.current + 1, starts.length - 1)),
      previous: () => go(Math.max(at.current - 1, 0)),
    };
  }

  const expand = async (row: Extract<DiffRow, { kind: 'gap' }>, lines: number) => {
    try {
      const page = await get<LinesPage>(runPath(other ?? run, '/lines'), { at: b, path, offset: row.new - 1, limit: lines });
      setExpanded((before) => [...before, { old: row.old, new: row.new, rows: page.rows }]);
    } catch (error) {
      failed(error);
    }
  };

  if (fetched.error !== null) return <p className="empty" role="alert">{fetched.error.message}</p>;
  if (diff === null) return <p className="empty quiet">Comparing…</p>;
  if (/\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i.test(path)) {
    return <Images run={run} other={other} a={a} b={b} path={path} from={from} diff={diff} />;
  }
  if (diff.lines === null) return <Sides diff={diff} />;
  if (rows.length === 0) {
    return (
      <div className="empty">
        <p>{diff.a === null || diff.b === null ? 'An empty file.' : 'The lines are the same on both sides.'}</p>
        {diff.a?.executable !== diff.b?.executable && diff.a && diff.b && <p>It {diff.b.executable ? 'became' : 'is no longer'} executable.</p>}
      </div>
    );
  }
  // Only one side has anything: two columns would leave half of the page empty.
  const isSplit = split && diff.a !== null && diff.b !== null;
  const widest = rows.reduce((most, row) => row.kind === 'line'
    ? Math.max(most, row.old?.row.text.length ?? 0, row.new?.row.text.length ?? 0) : most, 0);
  return (
    <>
      <Rows className={isSplit ? 'diff split' : 'diff'} count={rows.length} height={LINE} handle={list} wide={!isSplit}
        aria-label={`Difference of ${path}`} role="group">
        {(index) => <DiffLine key={index} row={rows[index] as DiffRow} split={isSplit} onExpand={(row, lines) => void expand(row, lines)} />}
      </Rows>
      {isSplit && <Sideways list={list} columns={Math.min(widest, 10_000)} key={key} />}
    </>
  );
}

/** Moves both columns of a split difference sideways at once. */
function Sideways({ list, columns }: { list: { current: RowsHandle | null }; columns: number }) {
  const bar = useRef<HTMLDivElement>(null);
  const [extra, setExtra] = useState(0);
  useEffect(() => {
    const rows = list.current?.element;
    if (!rows) return;
    // A column has the numbers and the sign before its text.
    const measure = () => setExtra(Math.max(0, Math.ceil(columns * 7.25 + 90 - rows.clientWidth / 2)));
    const observer = new ResizeObserver(measure);
    observer.observe(rows);
    const turned = (event: WheelEvent) => {
      const by = event.deltaX !== 0 ? event.deltaX : event.shiftKey ? event.deltaY : 0;
      if (by !== 0 && bar.current !== null) bar.current.scrollLeft += by;
    };
    rows.addEventListener('wheel', turned, { passive: true });
    return () => {
      observer.disconnect();
      rows.removeEventListener('wheel', turned);
      rows.style.removeProperty('--dx');
    };
  }, [columns]);
  const moved = () => list.current?.element?.style.setProperty('--dx', `${-(bar.current?.scrollLeft ?? 0)}px`);
  return (
    <div ref={bar} className="sideways" tabIndex={extra > 0 ? 0 : -1} hidden={extra === 0} role="group" aria-label="Move the lines sideways" onScroll={moved}>
      <div style={{ width: `calc(100% + ${extra}px)` }} />
    </div>
  );
}

function DiffLine({ row, split, onExpand }: {
  row: DiffRow; split: boolean; onExpand: (row: Extract<DiffRow, { kind: 'gap' }>, lines: number) => void;
}) {
  if (row.kind === 'note') return <div className="ln hid"><span className="gap">{row.text}</span></div>;
  if (row.kind === 'gap') {
    return (
      <div className="ln hid">
        <span className="gap">
          ⋯ {count(row.lines)} unchanged {row.lines === 1 ? 'line' : 'lines'} —{' '}
          {row.lines > 20 && <button type="button" onClick={() => onExpand(row, 20)}>expand 20</button>}
          {row.lines > 20 && ' · '}
          <button type="button" onClick={() => onExpand(row, Math.min(row.lines, 5_000))}>{row.lines > 20 ? 'all' : 'expand'}</button>
        </span>
      </div>
    );
  }
  if (!split) {
    const cell = row.new ?? row.old;
    if (cell === null) return null;
    const sign = row.old === null ? '+' : row.new === null ? '-' : ' ';
    return (
      <div className={`ln ${lineClass(sign)}`}>
        <i>{row.old?.number ?? ''}</i><i>{row.new?.number ?? ''}</i><b>{sign}</b><Text row={cell.row} />
      </div>
    );
  }
  return <div className="two"><Half cell={row.old} side="-" /><Half cell={row.new} side="+" /></div>;
}

function lineClass(sign: string): string {
  if (sign === '+') return 'add';
  return sign === '-' ? 'del' : '';
}

function Half({ cell, side }: { cell: Cell | null; side: '+' | '-' }) {
  if (cell === null) return <div className="ln pad" />;
  const sign = cell.row.sign === side ? side : ' ';
  return <div className={`ln ${lineClass(sign)}`}><i>{cell.number}</i><b>{sign}</b><Text row={cell.row} /></div>;
}

function Text({ row }: { row: LineRow }) {
  const parts = [];
  let at = 0;
  for (const [start, end] of (row.marks ?? []) as [number, number][]) {
    parts.push(plainLine(row.text.slice(at, start)), <mark key={start}>{plainLine(row.text.slice(start, end))}</mark>);
    at = end;
  }
  parts.push(plainLine(row.text.slice(at)));
  return (
    <span className="tx">
      {parts}
      {row.end === 'cr' && <em title="ends with a carriage return">␍</em>}
      {row.end === 'eof' && <em title="no newline at the end of the file">⏎̸</em>}
      {row.end === 'cut' && <em>… cut</em>}
    </span>
  );
}

function Sides({ diff }: { diff: FileDiff }) {
  return (
    <div className="empty">
      <p>{diff.why === 'not text' ? 'This is not text.' : `This is ${diff.why}.`} Its bytes are under Raw.</p>
      <dl className="kv">
        <dt>Before</dt><dd>{describe(diff.a)}</dd>
        <dt>After</dt><dd>{describe(diff.b)}</dd>
      </dl>
    </div>
  );
}

function describe(side: Side | null): string {
  if (side === null) return 'not there';
  if (side.kind === 'symlink') return `a link to ${side.target ?? '?'}`;
  return `${side.kind}, ${bytes(side.size)}${side.executable ? ', executable' : ''}`;
}

function Images({ run, other, a, b, path, from, diff }: Pick<DiffProps, 'run' | 'other' | 'a' | 'b' | 'path' | 'from'> & { diff: FileDiff }) {
  const [share, setShare] = useState(50);
  const before = diff.a && address(runPath(run, '/raw'), { at: a, path: from ?? path });
  const after = diff.b && address(runPath(other ?? run, '/raw'), { at: b, path });
  return (
    <div className="images">
      {before !== null && after !== null && (
        <label>before <input type="range" min={0} max={100} value={share} onChange={(event) => setShare(Number(event.target.value))} /> after</label>
      )}
      <div className="swipe">
        {before !== null && <figure><img src={before} alt={`${path} before`} /><figcaption>Before · {describe(diff.a)}</figcaption></figure>}
        {after !== null && <figure><img src={after} alt={`${path} after`} /><figcaption>After · {describe(diff.b)}</figcaption></figure>}
        {before !== null && after !== null && (
          <figure className="over"><img src={before} alt="" /><img src={after} alt="Both, one over the other" style={{ clipPath: `inset(0 0 0 ${100 - share}%)` }} /><figcaption>One over the other</figcaption></figure>
        )}
      </div>
    </div>
  );
}
