// Small parts that several screens have.

import {
  useEffect, useRef, useState, useSyncExternalStore, type MouseEvent, type ReactNode,
} from 'react';
import { go } from './url.ts';
import { plain } from './text.ts';

/** A link within the page. */
export function A({ to, children, className, label }: {
  to: string; children: ReactNode; className?: string; label?: string;
}) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return <a href={to} onClick={follow} className={className} aria-label={label}>{children}</a>;
}

/** Several choices, of which one is on. */
export function Segments<T extends string>({ label, value, choices, onChoose }: {
  label: string; value: T; choices: { value: T; text: ReactNode; title?: string; off?: boolean }[];
  onChoose: (value: T) => void;
}) {
  return (
    <div className="seg" role="group" aria-label={label}>
      {choices.map((choice) => (
        <button key={choice.value} type="button" aria-pressed={choice.value === value} disabled={choice.off}
          title={choice.title} onClick={() => onChoose(choice.value)}>{choice.text}</button>
      ))}
    </div>
  );
}

/** A name that a file or an agent gave, with nothing hidden in it. */
export function Name({ children }: { children: string }) {
  return <bdi>{plain(children)}</bdi>;
}

/** A small picture on a button, drawn as one line. */
export function Icon({ d }: { d: string }) {
  return <svg className="icon" width={16} height={16} viewBox="0 0 16 16" aria-hidden="true"><path d={d} /></svg>;
}

/** A window over the page. */
export function Sheet({ title, onClose, children, wide }: {
  title: string; onClose: () => void; children: ReactNode; wide?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const it = element.current;
    if (it === null) return;
    it.showModal();
    const ended = () => close.current();
    it.addEventListener('close', ended);
    return () => {
      it.removeEventListener('close', ended);
      it.close();
    };
  }, []);
  const outside = (event: MouseEvent) => {
    if (event.target === element.current) element.current?.close();
  };
  return (
    <dialog ref={element} aria-label={title} className={wide ? 'wide' : ''} onMouseDown={outside}>
      <div className="sheet">{children}</div>
    </dialog>
  );
}

interface Note {
  id: number;
  text: string;
  isError: boolean;
  action?: { text: string; run: () => void };
}

let notes: Note[] = [];
let lastNote = 0;
const listeners = new Set<() => void>();

function changeNotes(next: Note[]): void {
  notes = next;
  listeners.forEach((listener) => listener());
}

/** Shows a message for a while, with what can be done about it. */
export function toast(text: string, action?: Note['action'], isError = false): void {
  const id = ++lastNote;
  changeNotes([...notes.slice(-3), { id, text, isError, ...(action ? { action } : {}) }]);
  setTimeout(() => changeNotes(notes.filter((note) => note.id !== id)), action ? 30_000 : 8_000);
}

/** Shows why something failed. */
export function failed(error: unknown): void {
  toast(error instanceof Error ? error.message : String(error), undefined, true);
}

export function Toasts() {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notes,
  );
  return (
    <div className="toasts" role="status">
      {all.map((note) => (
        <div key={note.id} className={note.isError ? 'toast bad' : 'toast'}>
          <span>{plain(note.text)}</span>
          {note.action && (
            <button type="button" onClick={() => {
              changeNotes(notes.filter((it) => it.id !== note.id));
              note.action?.run();
            }}>{note.action.text}</button>
          )}
          <button type="button" className="quiet" aria-label="Dismiss"
            onClick={() => changeNotes(notes.filter((it) => it.id !== note.id))}>×</button>
        </div>
      ))}
    </div>
  );
}

/** Copies text, and says so. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied: ${text.length > 120 ? `${text.slice(0, 120)}…` : text}`);
  } catch {
    toast(text);
  }
}

/** A value that the browser keeps. */
export function useKept(name: string, initial: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => {
    try {
      return localStorage.getItem(`wink-${name}`) ?? initial;
    } catch {
      return initial;
    }
  });
  return [value, (next) => {
    setValue(next);
    try {
      localStorage.setItem(`wink-${name}`, next);
    } catch {
      // A browser that keeps nothing forgets it with the page.
    }
  }];
}
