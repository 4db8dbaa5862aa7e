// The calls of a run as bars, its snapshots as diamonds, its forks as lanes, and the range that is compared.

import { useEffect, useMemo, useRef, useState, type PointerEvent as ReactPointer } from 'react';
import type { CallSummary, SnapshotSummary } from '../types.ts';
import { clock, count, counted, duration, plain, snapshotName, stateName } from '../text.ts';
import { indexAt, indexOfState, statesAround } from './model.ts';

const HEIGHT = 104;
const BASE = 46;
const AXIS = 66;
const LANE = 92;
const PAD = 10;

interface TimelineProps {
  calls: CallSummary[];
  snapshots: SnapshotSummary[];
  forks: string[];
  a: string;
  b: string;
  selected: number;
  theme: string;
  onRange: (a: string, b: string) => void;
  onCall: (index: number) => void;
  onSnapshot: (snapshot: SnapshotSummary) => void;
  following: boolean;
  onFollow: (following: boolean) => void;
}

/** The part of the calls that is seen. */
interface View {
  from: number;
  to: number;
}

function color(style: CSSStyleDeclaration, call: { ok: boolean; kind: string }): string {
  if (!call.ok) return style.getPropertyValue('--err');
  const names: Record<string, string> = { read: '--read', write: '--acc', exec: '--vio' };
  return style.getPropertyValue(names[call.kind] ?? '--read');
}

/** How high the bar of a call is: each ten times as long adds the same. */
function barHeight(us: number): number {
  return Math.min(38, 7 + Math.max(0, Math.log10(Math.max(us, 50) / 50)) * 8);
}

export function Timeline(props: TimelineProps) {
  const { calls, snapshots, forks, a, b, selected, theme, onRange, onCall, onSnapshot, following, onFollow } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(1000);
  const [zoom, setZoom] = useState<View | null>(null);
  const [drag, setDrag] = useState<{ from: number; to: number; moved: boolean } | null>(null);
  const [hovered, setHovered] = useState(-1);

  useEffect(() => {
    const it = box.current;
    if (it === null) return;
    const observer = new ResizeObserver(() => setWidth(it.clientWidth));
    observer.observe(it);
    setWidth(it.clientWidth);
    return () => observer.disconnect();
  }, []);

  const view = zoom ?? { from: 0, to: Math.max(calls.length, 1) };
  const span = Math.max(1, view.to - view.from);
  // A few calls do not fill the width: their bars stay bars.
  const step = Math.min((width - 2 * PAD) / span, 26);
  const x = (index: number) => PAD + (index - view.from) * step;
  const index = (at: number) => view.from + (at - PAD) / step;

  useEffect(() => {
    const it = canvas.current;
    const context = it?.getContext('2d');
    if (!it || !context) return;
    const ratio = devicePixelRatio || 1;
    it.width = Math.round(width * ratio);
    it.height = Math.round(50 * ratio);
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, 50);
    const style = getComputedStyle(it);
    const first = Math.max(0, Math.floor(view.from));
    const last = Math.min(calls.length, Math.ceil(view.to));
    if (step < 2) {
      binned(context, style, calls, first, last, x);
      return;
    }
    const bar = Math.max(1, Math.min(step - Math.max(1, step * 0.25), 12));
    for (let at = first; at < last; at += 1) {
      const call = calls[at];
      if (call === undefined) continue;
      const height = barHeight(call.us);
      context.fillStyle = color(style, call);
      context.fillRect(x(at) + (step - bar) / 2, BASE - height, bar, height);
      if (at === selected) {
        context.fillStyle = style.getPropertyValue('--text');
        context.fillRect(x(at) + (step - bar) / 2, BASE + 1, bar, 2);
      }
    }
  }, [calls, width, view.from, view.to, selected, theme, step]);

  const from = indexOfState(a, calls, snapshots);
  const to = indexOfState(b, calls, snapshots);
  const range = drag?.moved
    ? { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) }
    : { from: Math.min(from, to), to: Math.max(from, to) };

  const place = (event: ReactPointer) => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    return Math.max(0, Math.min(calls.length, index(event.clientX - left)));
  };
  const down = (event: ReactPointer) => {
    if (event.button !== 0 || (event.target as Element).closest('button')) return;
    const at = place(event);
    box.current?.setPointerCapture(event.pointerId);
    setDrag({ from: at, to: at, moved: false });
  };
  const move = (event: ReactPointer) => {
    const at = place(event);
    setHovered(Math.floor(at) < calls.length ? Math.floor(at) : -1);
    if (drag === null) return;
    const moved = drag.moved || Math.abs(at - drag.from) * step > 5;
    setDrag({ from: drag.from, to: at, moved });
  };
  const up = (event: ReactPointer) => {
    if (drag === null) return;
    setDrag(null);
    const at = place(event);
    if (!drag.moved) {
      const hit = Math.min(Math.floor(at), calls.length - 1);
      if (hit >= 0) onCall(hit);
      return;
    }
    const around = statesAround(Math.min(drag.from, at), Math.max(drag.from, at), calls, snapshots);
    onRange(around.a, around.b);
  };

  // React listens to wheels passively, so that they could not be kept from scrolling the page.
  useEffect(() => {
    const it = box.current;
    if (it === null) return;
    const turned = (event: WheelEvent) => {
      event.preventDefault();
      const left = it.getBoundingClientRect().left;
      const at = index(event.clientX - left);
      const isPan = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      const length = calls.length;
      if (isPan) {
        const by = ((event.deltaX || event.deltaY) / step);
        const start = Math.max(0, Math.min(length - span, view.from + by));
        setZoom({ from: start, to: start + span });
        return;
      }
      const next = Math.max(12, Math.min(length, span * (event.deltaY > 0 ? 1.25 : 0.8)));
      if (next >= length) {
        setZoom(null);
        return;
      }
      const share = (at - view.from) / span;
      const start = Math.max(0, Math.min(length - next, at - share * next));
      setZoom({ from: start, to: start + next });
    };
    it.addEventListener('wheel', turned, { passive: false });
    return () => it.removeEventListener('wheel', turned);
  });

  const failures = useMemo(() => calls.reduce((sum, call) => sum + (call.ok ? 0 : 1), 0), [calls]);
  const lanes = useMemo(() => forkLanes(calls, forks), [calls, forks]);
  const own = snapshots.filter((it) => it.fork === null);
  const marks = own.map((it) => ({ it, at: x(indexAt(calls, it.at)) })).filter((it) => it.at > -20 && it.at < width + 20);
  const firstCall = calls[0];
  const lastCall = calls.at(-1);
  const hover = hovered >= 0 ? calls[hovered] : undefined;
  let labelled = -100;

  return (
    <section className="tl" aria-label="Timeline">
      <div className="cap">
        <span>{firstCall && lastCall ? `${clock(firstCall.at)} – ${clock(lastCall.at)}` : 'no calls yet'}</span>
        <span>{counted(calls.length, 'tool call', 'tool calls')}</span>
        <span className={failures > 0 ? 'fail' : ''}>{count(failures)} failed</span>
        <span>{counted(own.length, 'snapshot', 'snapshots')}{forks.length > 0 && ` · ${counted(forks.length, 'fork', 'forks')}`}</span>
        <span className="sp" />
        {hover
          ? <span className="hover">{plain(hover.tool)} {plain(hover.about)} · {duration(hover.us)} {hover.ok ? '' : `✕ ${hover.code ?? ''}`}</span>
          : <span className="hint">drag to compare · wheel zooms · ←/→ step · [ ] snapshot</span>}
        <button type="button" className="chip" aria-pressed={following} onClick={() => onFollow(!following)}>follow</button>
      </div>
      <div className="tl-box" ref={box} style={{ height: HEIGHT }} onPointerDown={down} onPointerMove={move} onPointerUp={up}
        onPointerLeave={() => setHovered(-1)} onDoubleClick={() => setZoom(null)}>
        <canvas ref={canvas} style={{ width, height: 50 }} role="img"
          aria-label={`${count(calls.length)} tool calls, ${count(failures)} failed; compared from ${stateName(a, snapshots)} to ${stateName(b, snapshots)}`} />
        <svg width={width} height={HEIGHT} aria-hidden="true">
          <line className="axis" x1={PAD} x2={width - PAD} y1={AXIS} y2={AXIS} />
          {lanes.map((lane, row) => {
            const y = Math.min(LANE + row * 10, HEIGHT - 8);
            const start = x(lane.from);
            const end = x(lane.to);
            return (
              <g key={lane.name} className="lane">
                <path d={`M${start} ${AXIS} C${start + 16} ${AXIS} ${start + 4} ${y} ${start + 24} ${y} H${Math.max(end, start + 24)}`} />
                {lane.calls.map((at) => <circle key={at} cx={x(at) + step / 2} cy={y} r={2.5} />)}
                <path className="diamond" d={diamond(Math.max(end, start + 24), y, 5)} />
                <text x={Math.max(end, start + 24) + 9} y={y + 4}>fork: {lane.name}</text>
              </g>
            );
          })}
          <rect className="sel" x={x(range.from)} y={0} width={Math.max(1, (range.to - range.from) * step)} height={HEIGHT} />
          {[['A', range.from], ['B', range.to]].map(([name, at]) => (
            <g key={name}>
              <line className="hand" x1={x(Number(at))} x2={x(Number(at))} y1={0} y2={HEIGHT} />
              <text className="hl" x={x(Number(at)) + 4} y={10}>{name}</text>
            </g>
          ))}
        </svg>
        {marks.map(({ it, at }) => {
          const name = it.tag ?? '';
          const isShown = name !== '' && at - labelled > 30;
          if (isShown) labelled = at + name.length * 6.2;
          return (
            <button key={it.id} type="button" className={it.tag === null ? 'snap' : 'snap tagged'} style={{ left: at - 12, top: AXIS - 12 }}
              aria-label={`Snapshot ${snapshotName(it)}, ${clock(it.at)}`} title={`${snapshotName(it)} · ${clock(it.at)} · ${count(it.files)} files${it.message === null ? '' : ` · ${it.message}`}`}
              onClick={() => onSnapshot(it)} tabIndex={-1}>
              <i />{isShown && <span>{plain(name)}</span>}
            </button>
          );
        })}
      </div>
    </section>
  );
}

function diamond(x: number, y: number, r: number): string {
  return `M${x} ${y - r} L${x + r} ${y} L${x} ${y + r} L${x - r} ${y} Z`;
}

/** Draws many calls: for each pixel its longest one, and failures whatever else is there. */
function binned(
  context: CanvasRenderingContext2D, style: CSSStyleDeclaration, calls: CallSummary[], first: number, last: number,
  x: (index: number) => number,
): void {
  const colors = new Map<string, string>();
  const paint = (call: CallSummary) => {
    const key = call.ok ? call.kind : 'failed';
    let found = colors.get(key);
    if (found === undefined) {
      found = color(style, call);
      colors.set(key, found);
    }
    return found;
  };
  let at = first;
  while (at < last) {
    const pixel = Math.floor(x(at) / 2);
    let longest = calls[at];
    let failed = 0;
    while (at < last && Math.floor(x(at) / 2) === pixel) {
      const call = calls[at];
      if (call !== undefined) {
        if (longest === undefined || call.us > longest.us) longest = call;
        if (!call.ok) failed += 1;
      }
      at += 1;
    }
    if (longest === undefined) continue;
    const height = barHeight(longest.us);
    context.fillStyle = paint(longest.ok ? longest : { ...longest, ok: true });
    context.fillRect(pixel * 2, BASE - height, 1.5, height);
    if (failed > 0) {
      // How many failed is seen in the height, and one of many is not overlooked.
      const share = Math.min(height, 6 + failed * 2);
      context.fillStyle = paint({ ...longest, ok: false });
      context.fillRect(pixel * 2, BASE - share, 1.5, share);
    }
  }
}

interface Lane {
  name: string;
  from: number;
  to: number;
  calls: number[];
}

/** Finds for each fork the calls that worked in it. */
function forkLanes(calls: CallSummary[], forks: string[]): Lane[] {
  const lanes = new Map<string, Lane>();
  const lane = (name: string, at: number) => {
    let found = lanes.get(name);
    if (found === undefined) {
      found = { name, from: at, to: at + 1, calls: [] };
      lanes.set(name, found);
    }
    return found;
  };
  calls.forEach((call, at) => {
    if (call.tool === 'fork' && call.ok && call.about !== '') lane(call.about, at + 1);
    if (call.fork !== undefined) {
      const of = lane(call.fork, at);
      of.calls.push(at);
      of.to = at + 1;
    }
  });
  forks.forEach((name) => lane(name, calls.length));
  return [...lanes.values()].slice(0, 4);
}
