// One file of a state: its text in an editor that is loaded when it is needed, its bytes, or what it was over time.

import { useEffect, useRef, useState } from 'react';
import { address, get, request, runPath } from '../client.ts';
import { useFetched } from '../data.ts';
import { Rows } from '../rows.tsx';
import type { CallSummary, ChangeList, FileInfo, SnapshotSummary } from '../types.ts';
import { bytes, clock, count, snapshotName } from '../text.ts';

/** A file up to this size is shown as a whole; of a larger one, the beginning. */
const MOST = 64 * 1024 * 1024;

export function FileText({ run, state, path, version, theme, line }: {
  run: string; state: string; path: string; version: number; theme: string; line?: number | undefined;
}) {
  const key = `${run}\n${state}\n${path}\n${version}`;
  const info = useFetched(key, (signal) => get<FileInfo>(runPath(run, '/file'), { at: state, path }, signal));
  const element = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState('');
  const shownAs = info.value?.path === path ? info.value.shown_as : '';
  const size = info.value?.size ?? 0;
  useEffect(() => {
    if (shownAs !== 'text' || element.current === null) return;
    const place = element.current;
    const abort = new AbortController();
    let close = () => {};
    setProblem('');
    const began = performance.now();
    const load = async () => {
      const headers: HeadersInit = size > MOST ? { range: `bytes=0-${MOST - 1}` } : {};
      const [editor, response] = await Promise.all([
        import('../editor.ts'),
        request(runPath(run, '/raw'), { at: state, path }, { signal: abort.signal, headers }),
      ]);
      const text = await response.text();
      if (abort.signal.aborted) return;
      close = editor.show(place, text, path, line);
      performance.measure('file-shown', { start: began, end: performance.now() });
    };
    load().catch((error: unknown) => {
      if (!abort.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => {
      abort.abort();
      close();
    };
  }, [key, shownAs, theme, line]);
  if (info.error !== null) return <p className="empty">{info.error.status === 404 ? 'The file is not in this state.' : info.error.message}</p>;
  if (info.value === null) return <p className="empty quiet">Reading…</p>;
  if (info.value.target !== null) return <p className="empty">A link to <code>{info.value.target}</code>. Links are not followed.</p>;
  if (shownAs === 'image') return <div className="images"><img src={address(runPath(run, '/raw'), { at: state, path })} alt={path} /></div>;
  if (shownAs === 'binary') return <Hex run={run} state={state} path={path} version={version} />;
  return (
    <>
      {size > MOST && <p className="foot warn">The first 64 MiB of {bytes(size)}.</p>}
      {problem !== '' && <p className="empty" role="alert">{problem}</p>}
      <div className="file" ref={element} />
    </>
  );
}

const WIDTH = 16;
const CHUNK = 64 * 1024;

/** The bytes of a file, in ranges as they are seen. */
export function Hex({ run, state, path, version }: { run: string; state: string; path: string; version: number }) {
  const key = `${run}\n${state}\n${path}\n${version}`;
  const info = useFetched(key, (signal) => get<FileInfo>(runPath(run, '/file'), { at: state, path }, signal));
  const [chunk, setChunk] = useState(0);
  useEffect(() => setChunk(0), [key]);
  const size = info.value?.path === path ? info.value.size : -1;
  const part = useFetched(size > 0 ? `${key}\n${chunk}` : '', async (signal) => {
    const from = chunk * CHUNK;
    const headers = { range: `bytes=${from}-${Math.min(size, from + 2 * CHUNK) - 1}` };
    const response = await request(runPath(run, '/raw'), { at: state, path }, { headers, signal });
    return { from, bytes: new Uint8Array(await response.arrayBuffer()) };
  });
  if (info.error !== null) return <p className="empty">{info.error.status === 404 ? 'The file is not in this state.' : info.error.message}</p>;
  if (size === 0) return <p className="empty">An empty file.</p>;
  const line = (index: number) => {
    const at = index * WIDTH - (part.value?.from ?? 0);
    const found = at >= 0 ? part.value?.bytes.subarray(at, at + WIDTH) : undefined;
    const hex = found ? Array.from(found, (byte) => byte.toString(16).padStart(2, '0')).join(' ') : '';
    const text = found ? Array.from(found, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·')).join('') : '';
    return (
      <div className="ln hex" key={index}>
        <i>{(index * WIDTH).toString(16).padStart(8, '0')}</i><span>{hex.padEnd(WIDTH * 3)}</span><span>{text}</span>
      </div>
    );
  };
  return (
    <Rows className="diff" role="group" aria-label={`Bytes of ${path}`} count={Math.ceil(Math.max(size, 0) / WIDTH)} height={20}
      onSeen={(first, last) => {
        const from = Math.floor((first * WIDTH) / CHUNK);
        if (from < chunk || last * WIDTH > (chunk + 2) * CHUNK) setChunk(from);
      }}>
      {line}
    </Rows>
  );
}

/** The snapshots and calls that touched a file. */
export function FileHistory({ run, path, snapshots, calls, onSnapshot, onCall }: {
  run: string; path: string; snapshots: SnapshotSummary[]; calls: CallSummary[];
  onSnapshot: (a: string, b: string) => void; onCall: (id: string) => void;
}) {
  const own = snapshots.filter((it) => it.fork === null);
  const pairs = own.map((it, at) => ({ a: own[at - 1]?.id ?? 'empty', b: it.id, it }));
  // Of a long history the newest part; each pair is compared by itself.
  const recent = pairs.slice(-30);
  const key = `${run}\n${path}\n${recent.map((it) => it.b).join()}`;
  const changed = useFetched(key, async (signal) => {
    const lists = await Promise.all(recent.map((it) => get<ChangeList>(runPath(run, '/changes'), { a: it.a, b: it.b }, signal).catch(() => null)));
    return recent.flatMap((it, at) => {
      const file = lists[at]?.files.find((change) => change.path === path || change.from === path);
      return file === undefined ? [] : [{ ...it, file }];
    });
  });
  const touched = calls.filter((call) => call.about === path && call.changed);
  return (
    <div className="history">
      <h3>Snapshots that have a change of it</h3>
      {changed.value === null && <p className="quiet">Comparing…</p>}
      {changed.value?.length === 0 && <p className="quiet">None of the last {recent.length}.</p>}
      <ul>
        {changed.value?.map(({ a, b, it, file }) => (
          <li key={b}><button type="button" className="item" onClick={() => onSnapshot(a, b)}>
            <span className="sn">◆ {snapshotName(it)}</span> <span className="quiet">{clock(it.at)}</span>{' '}
            <span className={`b ${file.status}`}>{file.status}</span> {file.added !== undefined && <span className="cnt">+{file.added} −{file.removed}</span>}
          </button></li>
        ))}
      </ul>
      <h3>Calls that changed it</h3>
      {touched.length === 0 && <p className="quiet">No call names this path.</p>}
      <ul>
        {touched.slice(-200).map((call) => (
          <li key={call.id}><button type="button" className="item" onClick={() => onCall(call.id)}>
            <span className="quiet">{clock(call.at, true)}</span> {call.tool} {call.fork !== undefined && <span className="quiet">in fork {call.fork}</span>}
          </button></li>
        ))}
      </ul>
      {touched.length > 200 && <p className="quiet">The last 200 of {count(touched.length)}.</p>}
    </div>
  );
}
