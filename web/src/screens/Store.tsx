// The history of a run: what it takes, keeps and lacks; whether it is whole; and this computer.

import { useEffect, useState } from 'react';
import { get, runPath } from '../client.ts';
import { useFetched, useRun } from '../data.ts';
import { useKeys } from '../keys.ts';
import type { Check, StoreInfo, Verified } from '../types.ts';
import { bytes, count, counted, date, plain } from '../text.ts';
import { go, link } from '../url.ts';
import { Name, failed } from '../ui.tsx';
import { Usage } from './Stats.tsx';

const MARKS: Record<string, string> = { ok: '✓', note: '·', warning: '!', failed: '✕' };

export function Store({ name }: { name: string }) {
  const { detail } = useRun(name);
  const store = useFetched(`${name} ${detail?.snapshots ?? 0}`, (signal) => get<StoreInfo>(runPath(name, '/store'), {}, signal));
  const [verified, setVerified] = useState<Verified | null>(null);
  const [checks, setChecks] = useState<Check[] | null>(null);
  const [busy, setBusy] = useState('');
  useEffect(() => {
    document.title = 'Store · wink';
  }, []);
  useKeys({ Escape: () => go(link('run', name)) });
  const run = async <T,>(what: string, work: () => Promise<T>, then: (value: T) => void) => {
    setBusy(what);
    try {
      then(await work());
    } catch (error) {
      failed(error);
    }
    setBusy('');
  };
  const value = store.value;
  return (
    <main className="page">
      <h1>Store</h1>
      {store.error !== null && <p className="note" role="note">{store.error.message}</p>}
      <div className="cards">
        {value !== null && (
          <>
            <section aria-label="What is stored" className="card">
              <h2>What is stored</h2>
              <Usage store={value} />
              <dl className="kv">
                <dt>Where</dt><dd>{value.directory === null ? 'in memory' : <code><Name>{value.directory}</Name></code>}</dd>
                <dt>Strategy</dt><dd>{value.strategy}</dd>
                <dt>Snapshots</dt><dd>{count(value.snapshots)} · {count(value.tagged)} tagged</dd>
                <dt>Newest</dt><dd>{value.newest === null ? 'none yet' : date(value.newest)}</dd>
              </dl>
            </section>
            <section aria-label="Retention" className="card">
              <h2>Retention</h2>
              <dl className="kv">
                <dt>Most</dt><dd>{value.max_count === null ? 'as many as there are' : `${counted(value.max_count, 'snapshot', 'snapshots')} of each origin`}</dd>
                <dt>Space</dt><dd>{value.max_bytes === null ? 'no limit' : bytes(value.max_bytes)}</dd>
                <dt>Age</dt><dd>{value.max_age_seconds === null ? 'no limit' : counted(Math.round(value.max_age_seconds / 86400), 'day', 'days')}</dd>
                <dt>Tagged</dt><dd>{value.keep_tagged ? 'always stay' : 'go like the others'}</dd>
              </dl>
              <p className="quiet small">Set with <code>wink config</code>; <code>wink prune --dry-run</code> says what would go.</p>
            </section>
            <section aria-label="Not captured" className="card">
              <h2>Not captured</h2>
              {value.excluded.length + value.skipped.length + value.missing.length === 0 && <p>Everything is captured.</p>}
              {value.excluded.length > 0 && <><h3>Excluded by a setting</h3><ul>{value.excluded.map((it) => <li key={it}><code>{plain(it)}</code></li>)}</ul></>}
              {value.missing.length > 0 && <><h3 className="fail">Missing: the newest snapshot is incomplete</h3><ul>{value.missing.slice(0, 50).map((it) => <li key={it.path}><code><Name>{it.path}</Name></code>: {it.why}</li>)}</ul></>}
              {value.skipped.length > 0 && <><h3>Never captured</h3><ul>{value.skipped.slice(0, 50).map((it) => <li key={it.path}><code><Name>{it.path}</Name></code>: {it.why}</li>)}</ul></>}
            </section>
            <section aria-label="Verify" className="card">
              <h2>Verify</h2>
              <div className="acts">
                <button type="button" className="pri" disabled={busy !== ''} onClick={() => void run('verify', () => get<Verified>(runPath(name, '/verify')), setVerified)}>{busy === 'verify' ? 'Verifying…' : 'Verify'}</button>
                <button type="button" disabled={busy !== ''} onClick={() => void run('verify', () => get<Verified>(runPath(name, '/verify'), { data: true }), setVerified)}>With all contents</button>
              </div>
              {verified !== null && (
                <div role="status">
                  <p className={verified.ok ? 'ok' : 'fail'}>{verified.ok ? '✓ no problems' : `✕ ${counted(verified.problems.length, 'problem', 'problems')}`}</p>
                  <p className="quiet">{counted(verified.snapshots, 'snapshot', 'snapshots')}, {counted(verified.packs, 'pack', 'packs')}, {counted(verified.objects, 'object', 'objects')}{verified.bytes_checked > 0 && `, ${bytes(verified.bytes_checked)} read`}</p>
                  <ul>{verified.problems.slice(0, 50).map((problem) => <li key={problem}>{plain(problem)}</li>)}</ul>
                </div>
              )}
            </section>
          </>
        )}
        <section aria-label="Doctor" className="card">
          <h2>Doctor</h2>
          <div className="acts"><button type="button" disabled={busy !== ''} onClick={() => void run('doctor', () => get<Check[]>('/doctor'), setChecks)}>{busy === 'doctor' ? 'Checking…' : 'Check this computer'}</button></div>
          {checks !== null && (
            <ul className="checks" aria-label="Checks">{checks.map((check, at) => (
              <li key={at}><span className={check.health === 'failed' ? 'fail' : check.health === 'warning' ? 'warn' : 'ok'}>{MARKS[check.health]}</span> <b>{check.name}</b> {plain(check.said)}</li>
            ))}</ul>
          )}
        </section>
      </div>
    </main>
  );
}
