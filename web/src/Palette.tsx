// Goes to anything: screens, files, calls, snapshots, or a search for what was typed.

import { useEffect, useMemo, useState } from 'react';
import { get, runPath } from './client.ts';
import { useFetched, useRun } from './data.ts';
import type { Rows } from './types.ts';
import { clock, plain, snapshotName } from './text.ts';
import { go, link } from './url.ts';
import { Sheet } from './ui.tsx';

interface Choice {
  text: string;
  hint: string;
  to: string;
}

export function Palette({ run, onClose }: { run: string; onClose: () => void }) {
  const { calls, detail } = useRun(run);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => setAt(0), [text]);
  const files = useFetched(text.trim() === '' ? '' : `${run}\n${text}`, (signal) => get<Rows>(runPath(run, '/rows'), { filter: text, limit: 8 }, signal));
  const choices = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    const has = (of: string) => wanted === '' || of.toLowerCase().includes(wanted);
    const all: Choice[] = [];
    if (wanted !== '') all.push({ text: `Search history for “${text.trim()}”`, hint: 'search', to: link('search', run, { q: text.trim() }) });
    const screens: Choice[] = [
      { text: 'Run', hint: 'g r', to: link('run', run) }, { text: 'Home', hint: 'g h', to: link('home') },
      { text: 'Compare', hint: 'g c', to: link('compare', '', { run }) }, { text: 'Session', hint: 'g s', to: link('session', run) },
      { text: 'Size & latency', hint: 'g l', to: link('stats', run) }, { text: 'Store', hint: 'g t', to: link('store', run) },
    ];
    all.push(...screens.filter((it) => has(it.text)));
    all.push(...(files.value?.rows ?? []).filter((it) => it.kind !== 'directory').map((it) => ({ text: it.path, hint: 'file', to: link('run', run, { mode: 'all', tab: 'file', file: it.path }) })));
    all.push(...(detail?.snapshots_list ?? []).filter((it) => has(`${snapshotName(it)} ${it.short}`)).slice(-6).reverse()
      .map((it) => ({ text: `◆ ${snapshotName(it)}`, hint: clock(it.at), to: link('run', run, { snap: it.id, a: it.parent ?? 'empty', b: it.id }) })));
    if (wanted !== '') {
      all.push(...calls.filter((it) => has(`${it.tool} ${it.about} ${it.ok ? '' : 'failed'}`)).slice(-8).reverse()
        .map((it) => ({ text: `${it.tool} ${it.about}`, hint: `${it.ok ? '' : '✕ '}${clock(it.at)}`, to: link('run', run, { ev: it.id }) })));
    }
    return all;
  }, [text, files.value, calls, detail]);
  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onClose();
    go(choice.to);
  };
  const pressed = (event: React.KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, choices.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else if (event.key === 'Enter') choose(choices[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Sheet title="Go to" onClose={onClose} wide>
      <input autoFocus type="search" role="combobox" aria-label="Go to" aria-expanded="true" aria-controls="choices" aria-activedescendant={`choice-${at}`}
        placeholder="file, call, snapshot, screen, or text to search for" value={text} onChange={(event) => setText(event.target.value)} onKeyDown={pressed} />
      <ul id="choices" role="listbox" aria-label="Choices">
        {choices.map((choice, index) => (
          <li key={`${choice.to} ${index}`} id={`choice-${index}`} role="option" aria-selected={index === at} onClick={() => choose(choice)} onMouseMove={() => setAt(index)}>
            <span>{plain(choice.text)}</span><span className="quiet">{choice.hint}</span>
          </li>
        ))}
      </ul>
    </Sheet>
  );
}
