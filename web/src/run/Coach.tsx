// Leads a first look at a run from the call that failed to what broke it, a fork, and a comparison.

import type { CallSummary, RunDetail } from '../types.ts';
import { plain } from '../text.ts';
import { link } from '../url.ts';
import { A, useKept } from '../ui.tsx';

export function Coach({ detail, calls, call, isUndone, onSelect }: {
  detail: RunDetail; calls: CallSummary[]; call: CallSummary | null; isUndone: boolean; onSelect: (id: string) => void;
}) {
  const [isDone, setDone] = useKept('coach', 'no');
  const bad = calls.findLast((it) => !it.ok);
  if (isDone === 'yes' || detail.kind !== 'live' || detail.backend !== 'in_memory' || bad === undefined) return null;
  const close = <button type="button" className="quiet" aria-label="No more hints" onClick={() => setDone('yes')}>×</button>;
  const [fork] = detail.forks.slice(-1);
  if (fork !== undefined && fork.startsWith('try-')) {
    return (
      <p className="coach" role="note"><span>Your fork <b>{fork}</b> has its files to itself. <A to={link('compare', '', { run: detail.name, a: `fork:${fork}`, b: '@' })}>Compare it with now</A></span>{close}</p>
    );
  }
  if (call === null) {
    return (
      <p className="coach" role="note"><span>A call failed: <button type="button" className="link" onClick={() => onSelect(bad.id)}>click the red call</button> to see why.</span>{close}</p>
    );
  }
  if (!call.ok) {
    return <p className="coach" role="note"><span>{plain(call.tool)} failed and changed nothing. See <b>the last change before it</b>, at the right.</span>{close}</p>;
  }
  if (call.changed) {
    const undo = isUndone ? 'It was undone later.' : <><b>Undo this call</b> takes only this back.</>;
    return <p className="coach" role="note"><span>This is what {plain(call.tool)} changed. {undo} <b>Fork here</b> tries something else beside it.</span>{close}</p>;
  }
  return null;
}
