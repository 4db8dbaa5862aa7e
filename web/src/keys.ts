// Keys: one table for each screen, off while something is typed.

import { useEffect, useRef } from 'react';

export type Keys = Record<string, (() => void) | undefined>;

let isOff = false;
try {
  isOff = localStorage.getItem('wink-keys') === 'off';
} catch {
  // A browser that keeps nothing has keys.
}

export function keysAreOff(): boolean {
  return isOff;
}

/** Turns keys that are a single character on or off (WCAG 2.1.4). */
export function turnKeys(off: boolean): void {
  isOff = off;
  try {
    localStorage.setItem('wink-keys', off ? 'off' : 'on');
  } catch {
    // It holds until the page is left.
  }
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement
    && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
}

let prefix = '';
let prefixTimer = 0;

/** Returns the name of a key press, such as `g r`, `shift+ArrowLeft` or `mod+k`. */
export function nameOf(event: KeyboardEvent): string {
  const isMod = event.metaKey || event.ctrlKey;
  if (isMod) return `mod+${event.key.toLowerCase()}`;
  if (event.shiftKey && event.key.length > 1) return `shift+${event.key}`;
  return event.key;
}

/** The tables in use; the one added last comes first. */
const tables: { current: Keys }[] = [];

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  const name = nameOf(event);
  const isSingle = !name.startsWith('mod+');
  if (isSingle && (isTyping(event.target) || document.querySelector('dialog[open]') !== null)) return;
  if (isSingle && isOff && event.key.length === 1 && event.key !== '?') return;
  const find = (wanted: string) => tables.findLast((table) => table.current[wanted] !== undefined)?.current[wanted];
  const run = (prefix === '' ? undefined : find(`${prefix} ${name}`)) ?? find(name);
  prefix = '';
  clearTimeout(prefixTimer);
  if (run !== undefined) {
    event.preventDefault();
    run();
  } else if (name === 'g') {
    prefix = 'g';
    prefixTimer = window.setTimeout(() => { prefix = ''; }, 1_500);
  }
}

/** Has keys do something as long as the component is shown. */
export function useKeys(keys: Keys): void {
  const table = useRef(keys);
  table.current = keys;
  useEffect(() => {
    if (tables.length === 0) addEventListener('keydown', pressed);
    tables.push(table);
    return () => {
      tables.splice(tables.indexOf(table), 1);
      if (tables.length === 0) removeEventListener('keydown', pressed);
    };
  }, []);
}

/** All keys, for the help. */
export const KEYS: [string, string][] = [
  ['j / k', 'next, previous event'],
  ['← / →', 'previous, next call; with Shift, ten of them'],
  ['[ / ]', 'previous, next snapshot'],
  ['a / b', 'set the start, the end of the range to what is selected'],
  ['n / p', 'next, previous change in the file'],
  ['N / P', 'next, previous changed file'],
  ['u', 'split or unified'],
  ['f', 'fork here'],
  ['r', 'restore to here'],
  ['z', 'undo this call'],
  ['c', 'compare'],
  ['t', 'filter files'],
  ['e', 'expand all directories'],
  ['l', 'follow what happens'],
  ['/', 'search here'],
  ['⌘K or Ctrl+K', 'go to anything'],
  ['g r, g h, g s, g l, g c, g t', 'run, home, session, size & latency, compare, store'],
  ['d', 'dark or light'],
  ['?', 'this list'],
  ['Esc', 'back'],
];
