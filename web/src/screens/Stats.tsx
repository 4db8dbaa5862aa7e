// How long calls took and how large things are.

import { useEffect, useRef } from 'react';
import { get, runPath } from '../client.ts';
import { useFetched, useRun } from '../data.ts';
import { useKeys } from '../keys.ts';
import type { CallSummary, SnapshotSummary, Stats as StatsOf, StoreInfo } from '../types.ts';
import { bytes, clock, count, duration, plain, snapshotName } from '../text.ts';
import { go, link } from '../url.ts';
import { A, Name } from '../ui.tsx';

export function Stats({ name, theme }: { name: string; theme: string }) {
  const { calls } = useRun(name);
  const stats = useFetched(`${name} ${calls.length}`, (signal) => get<StatsOf>(runPath(name, '/stats'), {}, signal));
  const store = useFetched(`${name} ${calls.length} store`, (signal) => get<StoreInfo>(runPath(name, '/store'), {}, signal));
  useEffect(() => {
    document.title = 'Size & latency · wink';
  }, []);
  useKeys({ Escape: () => go(link('run', name)) });
  const value = stats.value;
  if (stats.error !== null) return <main className="message" role="alert"><p>{stats.error.message}</p></main>;
  if (value === null) return <main className="message quiet"><p>Counting…</p></main>;
  const most = Math.max(1, ...value.tools.map((tool) => tool.max));
  return (
    <main className="page">
      <h1>Size &amp; latency</h1>
      <div className="cards">
        <section aria-label="Duration of each call" className="card wide"><h2>Duration of each call</h2><Durations calls={calls} theme={theme} /></section>
        <section aria-label="Bytes of each snapshot" className="card wide"><h2>Bytes stored for each snapshot</h2><Sizes snapshots={value.snapshots} theme={theme} /></section>
        <section aria-label="Tools" className="card wide">
          <h2>Tools</h2>
          <div className="scroll-x" tabIndex={0} role="group" aria-label="Latency of each tool">
            <table className="table">
              <thead><tr><th>Tool</th><th className="num">Calls</th><th className="num">Failed</th><th className="num">p50</th><th className="num">p95</th><th className="num">max</th><th className="num">total</th><th aria-label="p50, p95 and max"></th></tr></thead>
              <tbody>
                {value.tools.map((tool) => (
                  <tr key={tool.tool}>
                    <td className="mono">{plain(tool.tool)}</td><td className="num">{count(tool.calls)}</td><td className={tool.failed > 0 ? 'num fail' : 'num'}>{count(tool.failed)}</td>
                    <td className="num">{duration(tool.p50)}</td><td className="num">{duration(tool.p95)}</td><td className="num">{duration(tool.max)}</td><td className="num">{duration(tool.total)}</td>
                    <td><svg width={160} height={12} aria-hidden="true"><rect className="r" width={(scale(tool.max, most)) * 160} height={12} /><rect className="w" width={scale(tool.p95, most) * 160} height={12} /><rect className="x" width={scale(tool.p50, most) * 160} height={12} /></svg></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
        <section aria-label="Slowest calls" className="card"><h2>Slowest calls</h2>
          {value.slowest.map((call) => <A key={call.id} className="hit" to={link('run', name, { ev: call.id })}><span className="mono num">{duration(call.us)}</span><code>{plain(call.tool)} {plain(call.about)}</code><span className="quiet">{clock(call.at)}</span></A>)}
        </section>
        <section aria-label="Largest files" className="card"><h2>Largest files</h2>
          {value.largest.map((file) => <A key={file.path} className="hit" to={link('run', name, { mode: 'all', tab: 'file', file: file.path })}><span className="mono num">{bytes(file.size)}</span><code><Name>{file.path}</Name></code></A>)}
        </section>
        {store.value !== null && (
          <section aria-label="Store" className="card"><h2>Store</h2><Usage store={store.value} /><p><A to={link('store', name)}>Retention, verify and doctor</A></p></section>
        )}
      </div>
    </main>
  );
}

/** A share of the longest, on a logarithmic scale from a microsecond on. */
function scale(us: number, most: number): number {
  return Math.log10(us + 1) / Math.log10(most + 1);
}

export function Usage({ store }: { store: StoreInfo }) {
  const share = store.max_bytes === null ? 0 : Math.min(1, store.bytes / store.max_bytes);
  return (
    <>
      <p><b>{bytes(store.bytes)}</b>{store.max_bytes !== null && ` of at most ${bytes(store.max_bytes)}`} · {count(store.packs)} packs</p>
      {store.max_bytes !== null && <meter min={0} max={1} high={0.8} value={share} aria-label="Used of the store's limit" />}
    </>
  );
}

function usePlot(make: (plots: typeof import('../plot.ts'), place: HTMLElement) => () => void, key: string) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let end = () => {};
    let isOver = false;
    void import('../plot.ts').then((plots) => {
      if (!isOver && element.current !== null) end = make(plots, element.current);
    });
    return () => {
      isOver = true;
      end();
    };
  }, [key]);
  return element;
}

function Durations({ calls, theme }: { calls: CallSummary[]; theme: string }) {
  const element = usePlot((plots, place) => plots.durations(place, calls), `${calls.length} ${theme}`);
  return calls.length === 0 ? <p className="quiet">No calls yet.</p> : <div ref={element} className="plot" role="img" aria-label={`Durations of ${calls.length} calls`} />;
}

function Sizes({ snapshots, theme }: { snapshots: SnapshotSummary[]; theme: string }) {
  const element = usePlot((plots, place) => plots.sizes(place, snapshots), `${snapshots.length} ${theme}`);
  if (snapshots.length === 0) return <p className="quiet">No snapshots.</p>;
  const known = snapshots.some((it) => it.stored !== null);
  return (
    <>
      {!known && <p className="quiet small">What each one added is not known for this store; the bytes of its files are shown.</p>}
      <div ref={element} className="plot" role="img" aria-label={`Sizes of ${snapshots.map(snapshotName).slice(0, 20).join(', ')}`} />
    </>
  );
}
