// The frame of all screens: where one is, whether it is live, and the way elsewhere.

import { useEffect, useRef, useState } from 'react';
import { useConnection, useRun } from './data.ts';
import { KEYS, keysAreOff, turnKeys, useKeys } from './keys.ts';
import { Palette } from './Palette.tsx';
import { Run } from './run/Run.tsx';
import { Compare } from './screens/Compare.tsx';
import { Home } from './screens/Home.tsx';
import { Search } from './screens/Search.tsx';
import { Session } from './screens/Session.tsx';
import { Stats } from './screens/Stats.tsx';
import { Store } from './screens/Store.tsx';
import { baseName, plain } from './text.ts';
import { go, link, usePlace, type Place } from './url.ts';
import { A, Name, Sheet, Toasts, useKept } from './ui.tsx';

/** The run that was shown last, for screens that are of none. */
let lastRun = 'main';

export function App() {
  const place = usePlace();
  const [chosen, setTheme] = useKept('theme', 'system');
  const [isSystemDark, setSystemDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const [open, setOpen] = useState<'palette' | 'help' | null>(null);
  const theme = chosen === 'system' ? (isSystemDark ? 'dark' : 'light') : chosen;
  if (place.run !== '') lastRun = place.run;
  const run = lastRun;

  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const changed = () => setSystemDark(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  document.documentElement.dataset['theme'] = theme;

  const turn = () => setTheme(theme === 'dark' ? 'light' : 'dark');
  useKeys({
    'mod+k': () => setOpen('palette'),
    '?': () => setOpen('help'),
    d: turn,
    'g r': () => go(link('run', run)), 'g h': () => go(link('home')), 'g s': () => go(link('session', run)),
    'g l': () => go(link('stats', run)), 'g c': () => go(link('compare', '', { run })), 'g t': () => go(link('store', run)),
  });

  return (
    <>
      <Header place={place} run={run} theme={theme} onTheme={turn} onOpen={setOpen} />
      <Away />
      <Screen place={place} theme={theme} />
      {place.run !== '' && <Announcer run={place.run} />}
      <Toasts />
      {open === 'palette' && <Palette run={run} onClose={() => setOpen(null)} />}
      {open === 'help' && <Help onClose={() => setOpen(null)} />}
    </>
  );
}

function Screen({ place, theme }: { place: Place; theme: string }) {
  switch (place.screen) {
    case 'run': return <Run key={place.run} name={place.run} theme={theme} />;
    case 'compare': return <Compare />;
    case 'session': return <Session key={place.run} name={place.run} />;
    case 'search': return <Search key={place.run} name={place.run} />;
    case 'stats': return <Stats key={place.run} name={place.run} theme={theme} />;
    case 'store': return <Store key={place.run} name={place.run} />;
    default: return <Home />;
  }
}

function Header({ place, run, theme, onTheme, onOpen }: {
  place: Place; run: string; theme: string; onTheme: () => void; onOpen: (what: 'palette' | 'help') => void;
}) {
  const connection = useConnection();
  const other: Record<string, string> = { compare: 'compare', session: 'session', search: 'search', stats: 'size & latency', store: 'store' };
  return (
    <header>
      <A to="/" className="brand" label="wink, all runs"><b>wink</b></A>
      {place.screen !== 'home' && (
        <nav className="crumb" aria-label="Where you are">
          {place.run !== '' && <RunCrumb run={place.run} />}
          {other[place.screen] !== undefined && <> / <span className="here">{other[place.screen]}</span></>}
        </nav>
      )}
      {connection === 'live' && <span className="live">live</span>}
      <span className="sp" />
      <button type="button" onClick={() => onOpen('palette')}>Search history<kbd>⌘K</kbd></button>
      <A className="btn" to={link('stats', run)}>Size &amp; latency</A>
      <A className="btn" to={link('store', run)}>Store</A>
      <button type="button" aria-label={`Switch to the ${theme === 'dark' ? 'light' : 'dark'} theme`} onClick={onTheme}>◐</button>
      <button type="button" aria-label="Keyboard shortcuts" onClick={() => onOpen('help')}>?</button>
    </header>
  );
}

function RunCrumb({ run }: { run: string }) {
  const { detail } = useRun(run);
  const title = detail === null || detail.kind !== 'live' || detail.root === null ? null : baseName(detail.root);
  return <>{title !== null && <><Name>{title}</Name> / </>}<A to={link('run', run)} className="here"><Name>{run}</Name></A></>;
}

/** Says when the page is not current any more. */
function Away() {
  const connection = useConnection();
  if (connection === 'away') return <p className="away" role="alert">The server does not answer. What is shown may be old; the page tries again.</p>;
  if (connection === 'ended') {
    return <p className="away" role="alert">The server was started anew, and this page belongs to the one before. Open the address that it printed.</p>;
  }
  return null;
}

/** Tells those who do not see the timeline of failures, not too often. */
function Announcer({ run }: { run: string }) {
  const { calls } = useRun(run);
  const [text, setText] = useState('');
  const said = useRef({ count: -1, at: 0 });
  useEffect(() => {
    const failures = calls.filter((call) => !call.ok);
    const before = said.current;
    if (before.count >= 0 && failures.length > before.count && Date.now() - before.at > 5_000) {
      const last = failures.at(-1);
      setText(`${failures.length - before.count === 1 ? 'A call' : `${failures.length - before.count} calls`} failed: ${plain(last?.tool ?? '')} ${plain(last?.about ?? '')}`);
      said.current = { count: failures.length, at: Date.now() };
    } else if (before.count < 0 || failures.length < before.count) {
      said.current = { count: failures.length, at: 0 };
    }
  }, [calls]);
  return <p className="hidden" aria-live="polite">{text}</p>;
}

function Help({ onClose }: { onClose: () => void }) {
  const [isOff, setOff] = useState(keysAreOff());
  return (
    <Sheet title="Keyboard shortcuts" onClose={onClose} wide>
      <h2>Keyboard shortcuts</h2>
      <div className="keys">{KEYS.map(([key, what]) => <div key={key}><kbd>{key}</kbd><span>{what}</span></div>)}</div>
      <label><input type="checkbox" checked={isOff} onChange={(event) => { turnKeys(event.target.checked); setOff(event.target.checked); }} /> Turn off shortcuts that are a single character</label>
      <div className="acts"><button type="button" className="pri" onClick={onClose}>Close</button></div>
    </Sheet>
  );
}

