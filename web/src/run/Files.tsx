// The files of a run: those that a call or a range changed, or all, as a tree that is loaded as it is opened.

import { useEffect, useMemo, useRef, useState } from 'react';
import { get, runPath } from '../client.ts';
import { useFetched } from '../data.ts';
import { Rows, type RowsHandle } from '../rows.tsx';
import type { ChangedFile, ChangeList, Directory, Rows as RowsPage } from '../types.ts';
import { baseName, bytes, count } from '../text.ts';
import { Name } from '../ui.tsx';
import type { Mode } from './model.ts';

const ROW = 24;

/** How many rows of a whole tree are fetched at once. */
const PAGE = 300;

export interface TreeRow {
  path: string;
  name: string;
  depth: number;
  isDirectory: boolean;
  isOpen: boolean;
  change?: ChangedFile | undefined;
  /** What changed below a directory. */
  below?: { changed: number; added: number; removed: number; letter: string } | undefined;
  size?: number | undefined;
}

/** Makes the rows of a list of changed files: directories with what changed in them. */
export function changedRows(files: ChangedFile[], closed: Set<string>, filter: string): TreeRow[] {
  interface Node { path: string; name: string; children: Map<string, Node>; change?: ChangedFile }
  const root: Node = { path: '', name: '', children: new Map() };
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== '');
  for (const change of files) {
    const lower = change.path.toLowerCase();
    if (!words.every((word) => lower.includes(word))) continue;
    let node = root;
    const parts = change.path.split('/');
    parts.forEach((name, depth) => {
      let child = node.children.get(name);
      if (child === undefined) {
        child = { path: parts.slice(0, depth + 1).join('/'), name, children: new Map() };
        node.children.set(name, child);
      }
      node = child;
    });
    node.change = change;
  }
  const rows: TreeRow[] = [];
  const total = (node: Node): { changed: number; added: number; removed: number; letters: Set<string> } => {
    const sum = { changed: 0, added: 0, removed: 0, letters: new Set<string>() };
    if (node.change !== undefined) {
      sum.changed = 1;
      sum.added = node.change.added ?? 0;
      sum.removed = node.change.removed ?? 0;
      sum.letters.add(node.change.status);
    }
    for (const child of node.children.values()) {
      const below = total(child);
      sum.changed += below.changed;
      sum.added += below.added;
      sum.removed += below.removed;
      below.letters.forEach((letter) => sum.letters.add(letter));
    }
    return sum;
  };
  const walk = (node: Node, depth: number) => {
    const isDirectory = (child: Node) => child.children.size > 0;
    const sorted = [...node.children.values()].sort((x, y) => Number(isDirectory(y)) - Number(isDirectory(x)) || (x.name < y.name ? -1 : 1));
    for (let child of sorted) {
      let name = child.name;
      // A directory with nothing but another one in it is one row.
      while (child.change === undefined && child.children.size === 1) {
        const [only] = child.children.values();
        if (only === undefined || only.children.size === 0) break;
        name = `${name}/${only.name}`;
        child = only;
      }
      const isOpen = !closed.has(child.path);
      const row: TreeRow = { path: child.path, name, depth, isDirectory: isDirectory(child), isOpen, change: child.change };
      if (row.isDirectory) {
        const sum = total(child);
        const [letter = 'M'] = sum.letters.size === 1 ? sum.letters : ['M'];
        row.below = { changed: sum.changed, added: sum.added, removed: sum.removed, letter };
      }
      rows.push(row);
      if (row.isDirectory && isOpen) walk(child, depth + 1);
    }
  };
  walk(root, 0);
  return rows;
}

interface FilesProps {
  run: string;
  mode: Mode;
  /** The state whose files all are listed. */
  state: string;
  changes: ChangeList | null;
  loading: boolean;
  selected: string;
  version: number;
  filter: string;
  expandAll: boolean;
  onSelect: (path: string, change?: ChangedFile) => void;
}

export function Files(props: FilesProps) {
  if (props.mode === 'all') {
    return props.filter !== '' || props.expandAll ? <WholeTree {...props} /> : <LazyTree {...props} />;
  }
  return <ChangedTree {...props} />;
}

function ChangedTree({ changes, loading, selected, filter, onSelect, mode }: FilesProps) {
  const [closed, setClosed] = useState<Set<string>>(new Set());
  const rows = useMemo(() => changedRows(changes?.files ?? [], closed, filter), [changes, closed, filter]);
  const toggle = (path: string) => setClosed((before) => {
    const next = new Set(before);
    if (!next.delete(path)) next.add(path);
    return next;
  });
  if (rows.length === 0) {
    const nothing = mode === 'call' ? 'This call changed no file.' : 'Nothing changed between A and B.';
    return <p className="empty quiet">{loading && changes === null ? 'Comparing…' : filter === '' ? nothing : 'No path matches.'}</p>;
  }
  return (
    <>
      <Tree rows={rows} selected={selected} onToggle={toggle} onSelect={(row) => onSelect(row.path, row.change)} />
      {changes !== null && changes.total > changes.files.length && (
        <p className="foot">{count(changes.files.length)} of {count(changes.total)} changed files are listed.</p>
      )}
      {changes !== null && changes.unknown.length > 0 && (
        <p className="foot warn">Other programs changed {changes.unknown.length === 1 ? 'a path' : `${changes.unknown.length} paths`} later; what is there now is shown as the result.</p>
      )}
    </>
  );
}

function LazyTree({ run, state, selected, version, onSelect }: FilesProps) {
  const [open, setOpen] = useState<Set<string>>(() => new Set(['', ...parents(selected)]));
  const [known, setKnown] = useState<Map<string, Directory>>(new Map());
  const key = `${run}\n${state}\n${version}`;
  const loaded = useRef('');
  useEffect(() => {
    const isNew = loaded.current !== key;
    loaded.current = key;
    const wanted = [...open].filter((path) => isNew || !known.has(path));
    if (wanted.length === 0) return;
    let isOver = false;
    void Promise.all(wanted.map((path) => get<Directory>(runPath(run, '/tree'), { at: state, path })
      .then((directory) => [path, directory] as const)
      .catch((): readonly [string, Directory] => [path, { path, entries: [], total: 0 }])))
      .then((found) => {
        if (isOver) return;
        setKnown((before) => new Map([...(isNew ? [] : before), ...found]));
      });
    return () => { isOver = true; };
  }, [key, open]);
  useEffect(() => {
    setOpen((before) => {
      const more = parents(selected).filter((path) => !before.has(path));
      return more.length === 0 ? before : new Set([...before, ...more]);
    });
  }, [selected]);
  const rows = useMemo(() => {
    const made: TreeRow[] = [];
    const walk = (path: string, depth: number) => {
      for (const entry of known.get(path)?.entries ?? []) {
        const isDirectory = entry.kind === 'directory';
        const isOpen = open.has(entry.path);
        made.push({ path: entry.path, name: entry.name, depth, isDirectory, isOpen, size: entry.size });
        if (isDirectory && isOpen) walk(entry.path, depth + 1);
      }
    };
    walk('', 0);
    return made;
  }, [known, open]);
  const toggle = (path: string) => setOpen((before) => {
    const next = new Set(before);
    if (!next.delete(path)) next.add(path);
    return next;
  });
  if (known.size > 0 && rows.length === 0) return <p className="empty quiet">No files.</p>;
  return <Tree rows={rows} selected={selected} onToggle={toggle} onSelect={(row) => onSelect(row.path)} />;
}

/** The directories above a path. */
export function parents(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** All rows of a state: the server has them, and the page only those that are seen. */
function WholeTree({ run, state, selected, version, filter, onSelect }: FilesProps) {
  const key = `${run}\n${state}\n${version}\n${filter}`;
  const [offset, setOffset] = useState(0);
  useEffect(() => setOffset(0), [filter]);
  const fetched = useFetched(`${key}\n${offset}`, (signal) => get<RowsPage>(runPath(run, '/rows'), { at: state, filter, offset, limit: PAGE }, signal));
  const page = fetched.value;
  const row = (index: number): TreeRow | null => {
    const found = page?.rows[index - (page?.offset ?? 0)];
    if (found === undefined) return null;
    const isDirectory = found.kind === 'directory';
    const name = filter === '' ? baseName(found.path) : found.path;
    return { path: found.path, name, depth: filter === '' ? found.depth : 0, isDirectory, isOpen: true, size: found.size };
  };
  if (page === null) return <p className="empty quiet">{fetched.error?.message ?? 'Listing…'}</p>;
  if (page.total === 0) return <p className="empty quiet">No path matches.</p>;
  return (
    <Rows className="tree" role="tree" aria-label="Files" count={page.total} height={ROW} data-total={page.total}
      onSeen={(first, last) => {
        const isHere = first >= page.offset && last < page.offset + page.rows.length;
        if (!isHere && last < page.total) setOffset(Math.max(0, first - PAGE / 3 | 0));
      }}>
      {(index) => {
        const it = row(index);
        if (it === null) return <div key={index} className="row" role="presentation" />;
        return <TreeRowView key={index} row={it} index={index} total={page.total} isSelected={it.path === selected} isFocused={index === 0}
          onToggle={() => undefined} onSelect={() => onSelect(it.path)} />;
      }}
    </Rows>
  );
}

function Tree({ rows, selected, onToggle, onSelect }: {
  rows: TreeRow[]; selected: string; onToggle: (path: string) => void; onSelect: (row: TreeRow) => void;
}) {
  const list = useRef<RowsHandle>(null);
  const chosen = rows.findIndex((row) => row.path === selected);
  const [focused, setFocused] = useState(0);
  useEffect(() => {
    if (chosen >= 0) {
      setFocused(chosen);
      list.current?.show(chosen);
    }
  }, [chosen]);
  const pressed = (event: React.KeyboardEvent) => {
    const row = rows[focused];
    const to = (index: number) => {
      const next = Math.max(0, Math.min(rows.length - 1, index));
      setFocused(next);
      list.current?.show(next);
      requestAnimationFrame(() => list.current?.element?.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus());
    };
    if (event.key === 'ArrowDown') to(focused + 1);
    else if (event.key === 'ArrowUp') to(focused - 1);
    else if (event.key === 'Home') to(0);
    else if (event.key === 'End') to(rows.length - 1);
    else if (event.key === 'ArrowRight' && row?.isDirectory) row.isOpen ? to(focused + 1) : onToggle(row.path);
    else if (event.key === 'ArrowLeft' && row) {
      if (row.isDirectory && row.isOpen) onToggle(row.path);
      else to(rows.findLastIndex((it, at) => at < focused && it.depth < row.depth));
    } else if ((event.key === 'Enter' || event.key === ' ') && row) row.isDirectory ? onToggle(row.path) : onSelect(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Rows className="tree" role="tree" aria-label="Files" tabIndex={-1} count={rows.length} height={ROW} handle={list} onKeyDown={pressed}>
      {(index) => {
        const row = rows[index] as TreeRow;
        return <TreeRowView key={row.path} row={row} index={index} total={rows.length} isSelected={row.path === selected} isFocused={index === Math.min(focused, rows.length - 1)}
          onToggle={() => onToggle(row.path)} onSelect={() => onSelect(row)} />;
      }}
    </Rows>
  );
}

const LETTERS: Record<string, string> = { A: 'added', M: 'modified', D: 'deleted', R: 'renamed' };

function TreeRowView({ row, index, total, isSelected, isFocused, onToggle, onSelect }: {
  row: TreeRow; index: number; total: number; isSelected: boolean; isFocused: boolean; onToggle: () => void; onSelect: () => void;
}) {
  const { change, below } = row;
  const counts = change ?? below;
  return (
    <div className="row" role="treeitem" data-row={index} aria-level={row.depth + 1} aria-selected={isSelected} aria-setsize={total} aria-posinset={index + 1}
      {...(row.isDirectory ? { 'aria-expanded': row.isOpen } : {})} tabIndex={isFocused ? 0 : -1} title={change?.from ? `${change.from} → ${row.path}` : row.path}
      style={{ paddingLeft: 10 + row.depth * 14 }} onClick={row.isDirectory ? onToggle : onSelect}>
      <span className="tw" aria-hidden="true">{row.isDirectory ? (row.isOpen ? '▾' : '▸') : ''}</span>
      <span className="nm"><Name>{row.name}</Name></span>
      {counts !== undefined && (counts.added !== undefined || counts.removed !== undefined) && (
        <span className="cnt">
          {(counts.added ?? 0) > 0 && `+${counts.added}`} {(counts.removed ?? 0) > 0 && `−${counts.removed}`}
        </span>
      )}
      {change && <span className={`b ${change.status}`} title={LETTERS[change.status]}>{change.status}</span>}
      {!change && below && <span className={`b ${below.letter}`} title={`${below.changed} changed`}>{below.letter}{below.changed}</span>}
      {!counts && row.size !== undefined && <span className="cnt">{bytes(row.size)}</span>}
    </div>
  );
}
