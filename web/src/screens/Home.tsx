// All workspaces, sessions, archives and histories that the server shows.

import { useEffect, useState } from 'react';
import { get } from '../client.ts';
import { useChanges, useFetched } from '../data.ts';
import type { RunSummary } from '../types.ts';
import { ago, count } from '../text.ts';
import { link } from '../url.ts';
import { A, Name } from '../ui.tsx';

const KINDS: Record<string, string> = { live: 'workspace', dump: 'session', archive: 'archive', store: 'history' };

export function Home() {
  const changes = useChanges();
  const list = useFetched(`runs ${changes}`, (signal) => get<RunSummary[]>('/runs', {}, signal));
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    document.title = 'wink';
    const timer = setInterval(() => setNow(Date.now()), 15_000);
    return () => clearInterval(timer);
  }, []);
  if (list.error !== null) return <main className="message" role="alert"><p>{list.error.message}</p></main>;
  return (
    <main className="page">
      <h1>Runs</h1>
      <div className="scroll-x" tabIndex={0} role="group" aria-label="Runs">
        <table className="table">
          <thead><tr><th>Name</th><th>What</th><th>Files</th><th>Last call</th><th className="num">Calls</th><th className="num">Failed</th><th className="num">Changing</th><th className="num">Snapshots</th><th className="num">Forks</th><th>Activity</th></tr></thead>
          <tbody>
            {(list.value ?? []).map((run) => (
              <tr key={run.name}>
                <td><A to={link('run', run.name)}><b><Name>{run.name}</Name></b></A><div className="quiet small"><Name>{run.title}</Name></div></td>
                <td>{KINDS[run.kind] ?? run.kind}{run.kind === 'live' && <span className="live"> live</span>}</td>
                <td>{run.backend === 'in_memory' && run.kind === 'live' ? 'in memory' : run.kind === 'live' ? run.backend : '—'}</td>
                <td>{run.last === null ? '—' : ago(run.last, now)}</td>
                <td className="num">{count(run.calls)}</td>
                <td className={run.failed > 0 ? 'num fail' : 'num'}>{count(run.failed)}</td>
                <td className="num">{count(run.changing)}</td>
                <td className="num">{count(run.snapshots)}</td>
                <td className="num">{run.forks.length}</td>
                <td><Spark bars={run.spark} failed={run.spark_failed} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet">Sessions, archives and histories on disk open with <code>wink debug PATH…</code>, several at once.</p>
    </main>
  );
}

function Spark({ bars, failed }: { bars: number[]; failed: number[] }) {
  const most = Math.max(1, ...bars);
  return (
    <svg className="spark" width={bars.length * 5} height={22} role="img" aria-label={`${bars.reduce((sum, bar) => sum + bar, 0)} calls over time`}>
      {bars.map((bar, at) => {
        const height = bar === 0 ? 0 : Math.max(2, (bar / most) * 20);
        const bad = (failed[at] ?? 0) === 0 ? 0 : Math.max(2, ((failed[at] ?? 0) / most) * 20);
        return (
          <g key={at}>
            <rect x={at * 5} y={22 - height} width={4} height={height} className="w" />
            {bad > 0 && <rect x={at * 5} y={22 - bad} width={4} height={bad} className="e" />}
          </g>
        );
      })}
    </svg>
  );
}
