// Search over all snapshots, the files of now, and the calls of a run.

import { useEffect, useMemo, useState } from 'react';
import { get, runPath } from '../client.ts';
import { useFetched, useRun } from '../data.ts';
import { useKeys } from '../keys.ts';
import type { Found, FoundLine } from '../types.ts';
import { clock, count, counted, plain, plainLine, stateName } from '../text.ts';
import { go, link, set, usePlace } from '../url.ts';
import { A, Name } from '../ui.tsx';

export function Search({ name }: { name: string }) {
  const { query } = usePlace();
  const { detail } = useRun(name);
  const [text, setText] = useState(query['q'] ?? '');
  const wanted = query['q'] ?? '';
  const regex = query['regex'] === 'true';
  const sensitive = query['case'] === 'true';
  useEffect(() => setText(wanted), [wanted]);
  useEffect(() => {
    document.title = 'Search · wink';
  }, []);
  useKeys({ Escape: () => go(link('run', name)), '/': () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus() });
  const found = useFetched(wanted === '' ? '' : `${name}\n${wanted}\n${regex}\n${sensitive}`,
    (signal) => get<Found>(runPath(name, '/search'), { q: wanted, regex: regex || undefined, case: sensitive || undefined }, signal));
  const groups = useMemo(() => {
    const byPath = new Map<string, FoundLine[]>();
    for (const line of found.value?.lines ?? []) byPath.set(line.path, [...(byPath.get(line.path) ?? []), line]);
    return [...byPath];
  }, [found.value]);
  const snapshots = detail?.snapshots_list ?? [];
  const span = (line: FoundLine) => {
    if (line.last === '@') return line.first === '@' ? 'only now' : `since ${stateName(line.first ?? '', snapshots)}`;
    const first = stateName(line.first ?? '', snapshots);
    const last = stateName(line.last ?? line.first ?? '', snapshots);
    return first === last ? `only ${first}` : `${first} – ${last}, gone now`;
  };
  const value = found.value;
  return (
    <main className="page">
      <form className="search" role="search" onSubmit={(event) => { event.preventDefault(); set({ q: text }); }}>
        <input autoFocus type="search" aria-label="Search history" placeholder="text, path, tool or error" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit" className="pri">Search</button>
        <label><input type="checkbox" checked={regex} onChange={(event) => set({ regex: event.target.checked ? 'true' : undefined })} /> regular expression</label>
        <label><input type="checkbox" checked={sensitive} onChange={(event) => set({ case: event.target.checked ? 'true' : undefined })} /> match case</label>
      </form>
      {found.error !== null && <p className="fail" role="alert">{found.error.message}</p>}
      {found.loading && <p className="quiet">Searching all snapshots…</p>}
      {value?.problem && <p className="warn" role="note">{value.problem}</p>}
      {value !== null && wanted !== '' && (
        <p className="quiet" role="status">{counted(value.lines.length, 'line', 'lines')}{value.truncated && ' (more were found)'}, {counted(value.paths.length, 'path', 'paths')} and {counted(value.calls.length, 'call', 'calls')}; {counted(value.snapshots, 'snapshot', 'snapshots')} searched</p>
      )}
      {groups.length > 0 && <h2>Lines</h2>}
      {groups.map(([path, lines]) => (
        <section key={path} className="group" aria-label={plain(path)}>
          <h3 className="mono"><Name>{path}</Name></h3>
          {lines.map((line, at) => {
            const state = line.last === '@' ? '@' : line.last ?? line.first ?? '@';
            return (
              <A key={at} className="hit" to={link('run', name, { b: state, mode: 'all', tab: 'file', file: path, line: String(line.line) })}>
                <span className="quiet mono num">{line.line}</span><code>{plainLine(line.text.slice(0, 300))}</code><span className="quiet small">{span(line)}</span>
              </A>
            );
          })}
        </section>
      ))}
      {value !== null && value.paths.length > 0 && <h2>Paths</h2>}
      {value?.paths.slice(0, 200).map((path) => (
        <A key={path} className="hit" to={link('run', name, { mode: 'all', file: path, tab: 'file' })}><code><Name>{path}</Name></code></A>
      ))}
      {value !== null && value.calls.length > 0 && <h2>Calls</h2>}
      {value?.calls.slice(0, 200).map((call) => (
        <A key={call.id} className="hit" to={link('run', name, { ev: call.id })}>
          <span className="quiet mono">{clock(call.at)}</span><code>{plain(call.tool)} {plain(call.about)}</code><span className={call.ok ? 'ok' : 'fail'}>{call.ok ? '✓' : `✕ ${call.code ?? ''}`}</span>
        </A>
      ))}
      {value !== null && value.calls.length > 200 && <p className="quiet">The first 200 of {count(value.calls.length)} calls.</p>}
    </main>
  );
}
