// What a person can do about what is shown: fork, restore, undo, revert, copy.

import { useState } from 'react';
import { post, runPath } from '../client.ts';
import { useFetched } from '../data.ts';
import type { Forked, Restored, Reverted, RunDetail, SnapshotSummary, Stepped } from '../types.ts';
import { counted, plain, quoted, stateName } from '../text.ts';
import { go, link } from '../url.ts';
import { Name, Sheet, copy, failed, toast } from '../ui.tsx';

function listed(paths: string[]): string {
  const shown = paths.slice(0, 3).map(plain).join(', ');
  return paths.length > 3 ? `${shown} and ${paths.length - 3} more` : shown;
}

/** Undoes one operation, or the last one. */
export async function undo(run: string, operation?: number): Promise<void> {
  try {
    const done = await post<Stepped>(runPath(run, '/undo'), operation === undefined ? {} : { operation });
    const left = done.conflicts.length > 0 ? ` Left alone, because they changed since: ${listed(done.conflicts)}.` : '';
    toast(`Undid ${done.name} (operation ${done.operation}): ${counted(done.paths.length, 'path', 'paths')} restored.${left}`,
      { text: 'Redo', run: () => void redo(run) });
  } catch (error) {
    failed(error);
  }
}

export async function redo(run: string): Promise<void> {
  try {
    const done = await post<Stepped>(runPath(run, '/redo'), {});
    toast(`Redid ${done.name}: ${counted(done.paths.length, 'path', 'paths')} changed.`, { text: 'Undo', run: () => void undo(run) });
  } catch (error) {
    failed(error);
  }
}

/** Takes the changes between two states out. */
export function RevertSheet({ run, a, b, snapshots, onClose }: {
  run: string; a: string; b: string; snapshots: SnapshotSummary[]; onClose: () => void;
}) {
  const plan = useFetched(`${run} ${a} ${b}`, () => post<Reverted>(runPath(run, '/revert'), { from: a, to: b, dry_run: true }));
  const revert = async () => {
    try {
      const done = await post<Reverted>(runPath(run, '/revert'), { from: a, to: b });
      onClose();
      toast(`Reverted: ${counted(done.changes.length, 'path', 'paths')} changed.`, { text: 'Undo', run: () => void undo(run) });
    } catch (error) {
      failed(error);
    }
  };
  const conflicts = plan.value?.conflicts ?? [];
  return (
    <Sheet title="Revert" onClose={onClose}>
      <h2>Revert what changed from {stateName(a, snapshots)} to {stateName(b, snapshots)}</h2>
      <p className="quiet">What came later is kept. The files of now are saved first.</p>
      {plan.error !== null && <p className="fail" role="alert">{plan.error.message}</p>}
      {conflicts.length > 0 && <p className="fail" role="alert">Later changes are in the way, so nothing would be reverted: {listed(conflicts)}</p>}
      <Changes entries={plan.value?.changes ?? []} />
      <div className="acts">
        <button type="button" className="pri" disabled={plan.value === null || conflicts.length > 0 || plan.value.changes.length === 0} onClick={() => void revert()}>Revert</button>
        <button type="button" onClick={onClose}>Cancel</button>
      </div>
    </Sheet>
  );
}

const LETTERS: Record<string, string> = { added: 'A', modified: 'M', deleted: 'D' };

function Changes({ entries }: { entries: { path: string; change: string }[] }) {
  return (
    <ul className="changes" tabIndex={0} aria-label="Changes">
      {entries.slice(0, 200).map((entry) => (
        <li key={entry.path}><span className={`b ${LETTERS[entry.change] ?? 'M'}`}>{LETTERS[entry.change] ?? 'M'}</span> <Name>{entry.path}</Name></li>
      ))}
      {entries.length > 200 && <li className="quiet">and {entries.length - 200} more</li>}
    </ul>
  );
}

/** Shows what a restore would do, and does it. */
export function RestoreSheet({ run, to, path, snapshots, onClose }: {
  run: string; to: string; path: string; snapshots: SnapshotSummary[]; onClose: () => void;
}) {
  const [onlyFile, setOnlyFile] = useState(false);
  const [busy, setBusy] = useState(false);
  const paths = onlyFile && path !== '' ? [path] : [];
  const plan = useFetched(`${run} ${to} ${paths.join()}`, () => post<Restored>(runPath(run, '/restore'), { to, paths, dry_run: true }));
  const restore = async () => {
    setBusy(true);
    try {
      const done = await post<Restored>(runPath(run, '/restore'), { to, paths });
      onClose();
      const missing = done.missing.length > 0 ? ` Not restored, because the snapshot lacks them: ${listed(done.missing.map((it) => it.path))}.` : '';
      toast(`Restored ${stateName(to, snapshots)}: ${counted(done.written, 'file', 'files')} reverted, ${done.brought_back} brought back, ${done.removed} removed.${missing}`,
        done.saved === null ? undefined : { text: 'Undo', run: () => void undo(run) });
    } catch (error) {
      failed(error);
      setBusy(false);
    }
  };
  const value = plan.value;
  return (
    <Sheet title="Restore" onClose={onClose}>
      <h2>Restore {stateName(to, snapshots)}</h2>
      <p className="quiet">The files of now are saved first, so this can be undone. Sessions keep what they know: only files go back.</p>
      {plan.error !== null && <p className="fail" role="alert">{plan.error.message}</p>}
      {value !== null && (
        value.changes.length === 0 ? <p>The files are the same already.</p>
          : <p><b>{value.written}</b> to change, <b>{value.brought_back}</b> to bring back, <b>{value.removed}</b> to remove.</p>
      )}
      {value !== null && value.changed_outside.length > 0 && (
        <p className="warn">Changed by other programs since the last snapshot, and replaced too: {listed(value.changed_outside)}</p>
      )}
      {value !== null && value.missing.length > 0 && (
        <p className="warn">The snapshot is incomplete; these are left as they are: {listed(value.missing.map((it) => it.path))}</p>
      )}
      <Changes entries={value?.changes ?? []} />
      {path !== '' && <label><input type="checkbox" checked={onlyFile} onChange={(event) => setOnlyFile(event.target.checked)} /> Only <Name>{path}</Name></label>}
      <div className="acts">
        <button type="button" className="pri" disabled={busy || value === null || value.changes.length === 0} onClick={() => void restore()}>Restore</button>
        <button type="button" onClick={onClose}>Cancel</button>
      </div>
    </Sheet>
  );
}

/** Asks for the name of a fork, and makes it. */
export function ForkSheet({ run, at, forks, snapshots, onClose }: {
  run: string; at: string; forks: string[]; snapshots: SnapshotSummary[]; onClose: () => void;
}) {
  const free = () => {
    for (let number = 1; ; number += 1) if (!forks.includes(`try-${number}`)) return `try-${number}`;
  };
  const [name, setName] = useState(free);
  const make = async () => {
    try {
      const made = await post<Forked>(runPath(run, '/fork'), { name, at });
      onClose();
      toast(`Fork ${made.name} has the files of ${stateName(at, snapshots)}. Agents work in it with \`fork: "${made.name}"\`.`,
        { text: 'Compare', run: () => go(link('compare', '', { run, a: made.state, b: '@' })) });
    } catch (error) {
      failed(error);
    }
  };
  return (
    <Sheet title="Fork" onClose={onClose}>
      <h2>Fork {stateName(at, snapshots)}</h2>
      <p className="quiet">An independent copy to try something in. Nothing else changes.</p>
      <form onSubmit={(event) => { event.preventDefault(); void make(); }}>
        <label>Name <input autoFocus value={name} onChange={(event) => setName(event.target.value)} pattern="[A-Za-z0-9_\-]{1,60}" required title="letters, digits, - and _" /></label>
        <div className="acts">
          <button type="submit" className="pri">Fork</button>
          <button type="button" onClick={onClose}>Cancel</button>
        </div>
      </form>
    </Sheet>
  );
}

/** The command that shows the same in a terminal. */
export function commandFor(root: string | null, a: string, b: string, path: string, snapshots: SnapshotSummary[]): string {
  const short = (state: string) => snapshots.find((it) => it.id === state)?.short ?? state;
  const operation = /^op:(\d+)$/.exec(b);
  const of = root === null ? 'wink' : `wink -C ${quoted(root)}`;
  if (operation) return `${of} op show ${operation[1]}`;
  const paths = path === '' ? '' : ` -- ${quoted(path)}`;
  return `${of} diff ${short(a)}${b === '@' ? '' : ` ${short(b)}`}${paths}`;
}

export function CopyCommand({ detail, a, b, path }: { detail: RunDetail; a: string; b: string; path: string }) {
  return <button type="button" onClick={() => void copy(commandFor(detail.root, a, b, path, detail.snapshots_list))}>Copy CLI</button>;
}

