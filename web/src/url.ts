// What is shown is in the address, so that every view can be linked to.

import { useSyncExternalStore } from 'react';

export type Screen = 'home' | 'run' | 'compare' | 'session' | 'search' | 'stats' | 'store';

export interface Place {
  screen: Screen;
  /** The run of the screen, if it is one of a run. */
  run: string;
  query: Record<string, string>;
}

export function parse(path: string, search: string): Place {
  const [, screen = '', run = ''] = path.split('/');
  const query = Object.fromEntries(new URLSearchParams(search));
  const known: Screen[] = ['run', 'session', 'search', 'stats', 'store'];
  if (screen === 'compare') return { screen, run: query['run'] ?? '', query };
  for (const name of known) {
    if (screen === name && run !== '') return { screen: name, run: decoded(run), query };
  }
  return { screen: 'home', run: '', query };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function link(screen: Screen, run = '', query: Record<string, string | undefined> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, value);
  }
  const search = parameters.toString() === '' ? '' : `?${parameters.toString()}`;
  if (screen === 'home') return `/${search}`;
  if (screen === 'compare') return `/compare${search}`;
  return `/${screen}/${encodeURIComponent(run)}${search}`;
}

let place = parse(location.pathname, location.search);
const listeners = new Set<() => void>();

function changed(): void {
  place = parse(location.pathname, location.search);
  listeners.forEach((listener) => listener());
}

addEventListener('popstate', changed);

/** Goes to another address; a step back returns. */
export function go(to: string): void {
  if (to === location.pathname + location.search) return;
  history.pushState(null, '', to);
  changed();
}

/** Changes parts of the query in place; `undefined` removes one. */
export function set(changes: Record<string, string | undefined>): void {
  const query = { ...place.query, ...changes };
  const to = link(place.screen, place.run, query);
  if (to === location.pathname + location.search) return;
  history.replaceState(null, '', to);
  changed();
}

export function current(): Place {
  return place;
}

export function usePlace(): Place {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => place,
  );
}
