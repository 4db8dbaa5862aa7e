// The sessions of a run: slices, their items, and the raw line of a dump.

import { useEffect, useState } from 'react';
import { get, runPath } from '../client.ts';
import { useFetched, useRun } from '../data.ts';
import { useKeys } from '../keys.ts';
import type { ItemsPage, RawLine, SessionSummary } from '../types.ts';
import { bytes, count, plain, pretty } from '../text.ts';
import { go, link, set, usePlace } from '../url.ts';
import { Name, copy } from '../ui.tsx';

const PAGE = 50;
const RAW = 64 * 1024;

/** The parts of a value with where they are in it, for copying their paths. */
export function paths(value: unknown, at = '$', most = 400): { path: string; text: string }[] {
  const found: { path: string; text: string }[] = [];
  const walk = (part: unknown, path: string) => {
    if (found.length >= most) return;
    if (typeof part === 'object' && part !== null) {
      const entries = Array.isArray(part) ? part.map((it, index) => [`[${index}]`, it] as const)
        : Object.entries(part).map(([name, it]) => [/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`, it] as const);
      entries.forEach(([name, it]) => walk(it, path + name));
      if (entries.length > 0) return;
    }
    found.push({ path, text: JSON.stringify(part) });
  };
  walk(value, at);
  return found;
}

export function Session({ name }: { name: string }) {
  const { query } = usePlace();
  const { calls } = useRun(name);
  // A live session grows with its calls.
  const list = useFetched(`${name} ${calls.length}`, (signal) => get<SessionSummary[]>(runPath(name, '/sessions'), {}, signal));
  const sessions = list.value ?? [];
  const wanted = query['session'] ?? '';
  const session = sessions.find((it) => it.id === wanted || it.tags['name'] === wanted || String(it.number) === wanted) ?? sessions[0];
  const slice = session?.slices.find((it) => it.name === query['slice']) ?? session?.slices[0];
  const isRaw = query['view'] === 'raw';
  useEffect(() => {
    document.title = 'Session · wink';
  }, []);
  useKeys({ Escape: () => go(link('run', name)) });
  if (list.error !== null) return <main className="message" role="alert"><p>{list.error.message}</p></main>;
  if (list.value !== null && session === undefined) {
    return <main className="message"><h1>No session</h1><p className="quiet">A call that names a `session` begins one; a dump of a session has its own.</p></main>;
  }
  return (
    <main className="session">
      <section className="pane files" aria-label="Sessions">
        <div className="bar"><h2>Sessions</h2></div>
        <ul className="list scroll" tabIndex={0} aria-label="Sessions and slices">
          {sessions.map((it) => (
            <li key={it.number}>
              <button type="button" className="item" aria-current={it === session} onClick={() => set({ session: String(it.number), slice: undefined, view: undefined })}>
                <b><Name>{it.tags['name'] ?? it.id.slice(0, 8)}</Name></b> <span className="quiet small">{it.line === null ? '' : `line ${it.line} · `}{bytes(it.line_bytes)}</span>
              </button>
              {it === session && (
                <ul>
                  {it.slices.map((one) => (
                    <li key={one.name}>
                      <button type="button" className="item" aria-current={!isRaw && one === slice} onClick={() => set({ slice: one.name, view: undefined })}>
                        <Name>{one.name}</Name> <span className="quiet small">{one.kind} · {count(one.items)}</span>
                      </button>
                    </li>
                  ))}
                  <li><button type="button" className="item" aria-current={isRaw} onClick={() => set({ view: 'raw' })}>raw line</button></li>
                </ul>
              )}
            </li>
          ))}
        </ul>
      </section>
      <section className="pane" aria-label="Items">
        {session !== undefined && (
          <div className="bar">
            <h2>{isRaw ? 'Raw line' : <Name>{slice?.name ?? ''}</Name>}</h2>
            <span className="quiet small">session <span className="mono">{session.id}</span> · {session.created_at}{Object.entries(session.tags).map(([tag, value]) => ` · ${plain(tag)}: ${plain(value)}`)}</span>
          </div>
        )}
        {session !== undefined && isRaw && <Raw run={name} session={session} />}
        {session !== undefined && !isRaw && slice !== undefined && <Items key={`${session.number} ${slice.name}`} run={name} session={session.number} slice={slice.name} total={slice.items} />}
      </section>
    </main>
  );
}

function Items({ run, session, slice, total }: { run: string; session: number; slice: string; total: number }) {
  // The newest are what one looks for in a log.
  const [offset, setOffset] = useState(Math.max(0, Math.floor((total - 1) / PAGE) * PAGE));
  const page = useFetched(`${run}\n${session}\n${slice}\n${offset}\n${total}`,
    (signal) => get<ItemsPage>(runPath(run, `/sessions/${session}/items`), { slice, offset, limit: PAGE }, signal));
  const [open, setOpen] = useState<number | null>(null);
  if (page.error !== null) return <p className="empty" role="alert">{page.error.message}</p>;
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="Items of the slice">
      <p className="pager">
        <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>Older</button>
        <span className="quiet">{count(offset + 1)}–{count(Math.min(offset + PAGE, page.value?.total ?? 0))} of {count(page.value?.total ?? 0)}</span>
        <button type="button" disabled={offset + PAGE >= (page.value?.total ?? 0)} onClick={() => setOffset(offset + PAGE)}>Newer</button>
      </p>
      {page.value?.items.map((item, at) => {
        const index = (page.value?.offset ?? 0) + at;
        return (
          <div key={index} className="slice-item">
            <button type="button" className="item" aria-expanded={open === index} onClick={() => setOpen(open === index ? null : index)}>
              <span className="quiet mono">{index}</span> <code>{plain(item.slice(0, 160))}{item.length > 160 && '…'}</code>
            </button>
            {open === index && <Item item={item} at={`$.slices[?(@.name==${JSON.stringify(slice)})].items[${index}]`} />}
          </div>
        );
      })}
    </div>
  );
}

function Item({ item, at }: { item: string; at: string }) {
  let value: unknown;
  try {
    value = JSON.parse(item);
  } catch {
    return <pre tabIndex={0}>{plain(item)}</pre>;
  }
  return (
    <>
      <pre tabIndex={0}>{pretty(item).split('\n').map(plain).join('\n')}</pre>
      <details>
        <summary>Paths to copy</summary>
        <ul className="paths">{paths(value, at).map((it) => (
          <li key={it.path}><button type="button" className="link mono" onClick={() => void copy(it.path)}>{plain(it.path.slice(at.length) || '$')}</button> <span className="quiet">{plain(it.text.slice(0, 80))}</span></li>
        ))}</ul>
      </details>
    </>
  );
}

function Raw({ run, session }: { run: string; session: SessionSummary }) {
  const [offset, setOffset] = useState(0);
  const part = useFetched(`${run}\n${session.number}\n${session.line_bytes}\n${offset}`,
    (signal) => get<RawLine>(runPath(run, `/sessions/${session.number}/raw`), { offset, limit: RAW }, signal));
  if (part.error !== null) return <p className="empty" role="alert">{part.error.message}</p>;
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="Raw line">
      <p className="pager">
        <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - RAW))}>Before</button>
        <span className="quiet">bytes {count(offset)}–{count(Math.min(offset + RAW, session.line_bytes))} of {count(session.line_bytes)}</span>
        <button type="button" disabled={offset + RAW >= session.line_bytes} onClick={() => setOffset(offset + RAW)}>After</button>
      </p>
      <pre className="raw" tabIndex={0}>{plain(part.value?.text ?? '')}</pre>
    </div>
  );
}
