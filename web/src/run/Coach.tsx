// Leads a first look at a run from the call that failed to what broke it, a fork, and a comparison.

import type { CallSummary, RunDetail } from '../types.ts';
import { plain } from '../text.ts';
import { link } from '../url.ts';
import { A, useKept } from '../ui.tsx';

export function Coach({ detail, calls, call, onSelect }: {
  detail: RunDetail; calls: CallSummary[]; call: CallSummary | null; onSelect: (id: string) => void;
}) {
  const [isDone, setDone] = useKept('coach', 'no');
  const bad = calls.findLast((it) => !it.ok);
  if (isDone === 'yes' || detail.kind !== 'live' || detail.backend !== 'in_memory' || bad === undefined) return null;
  const close = <button type="button" className="quiet" aria-label="No more hints" onClick={() => setDone('yes')}>×</button>;
  const [fork] = detail.forks.slice(-1);
  if (fork !== undefined && fork.startsWith('try-')) {
    return (
      <p className="coach" role="note">Your fork <b>{fork}</b> has these files to itself. <A to={link('compare', '', { run: detail.name, a: `fork:${fork}`, b: '@' })}>Compare it with now</A>{close}</p>
    );
  }
  if (call === null) {
    return (
      <p className="coach" role="note">A call failed: <button type="button" className="link" onClick={() => onSelect(bad.id)}>click the red call</button> to see why.{close}</p>
    );
  }
  if (!call.ok) {
    return <p className="coach" role="note">{plain(call.tool)} was refused and changed nothing. See <b>the last change before it</b>, at the right.{close}</p>;
  }
  if (call.changed) {
    return <p className="coach" role="note">This is what {plain(call.tool)} changed. <b>Fork here</b> tries something else beside it; <b>Undo this call</b> takes only this back.{close}</p>;
  }
  return null;
}
