// The calls as a list, newest last, of which the page has only the rows that are seen.

import { useEffect, useRef } from 'react';
import { Rows, type RowsHandle } from '../rows.tsx';
import type { CallSummary, RunDetail } from '../types.ts';
import { clock, count, duration, plain, snapshotName, status } from '../text.ts';
import { A } from '../ui.tsx';
import { link } from '../url.ts';

interface EventsProps {
  detail: RunDetail;
  calls: CallSummary[];
  indices: number[];
  selected: string;
  filter: string;
  rangeOnly: boolean;
  following: boolean;
  searching: boolean;
  onFilter: (filter: string) => void;
  onRangeOnly: (only: boolean) => void;
  onSelect: (id: string, isTwice: boolean) => void;
  onFollow: (following: boolean) => void;
  onSearching: (searching: boolean) => void;
  onHide: () => void;
}

export function Events(props: EventsProps) {
  const { detail, calls, indices, selected, filter, rangeOnly, following, searching } = props;
  const list = useRef<RowsHandle>(null);
  const writes = calls.reduce((sum, call) => sum + (call.kind !== 'read' && call.changed ? 1 : 0), 0);
  const failures = calls.reduce((sum, call) => sum + (call.ok ? 0 : 1), 0);
  const place = indices.findIndex((index) => calls[index]?.id === selected);
  useEffect(() => {
    if (place >= 0) list.current?.show(place);
  }, [place]);
  useEffect(() => {
    if (following && selected === '') list.current?.show(indices.length - 1);
  }, [following, indices.length]);
  const chip = (name: string, text: string) => (
    <button type="button" className="chip" aria-pressed={filter === name} onClick={() => props.onFilter(filter === name ? '' : name)}>{text}</button>
  );
  const taken = new Map(detail.snapshots_list.map((it) => [it.id, it]));
  return (
    <section className="dock" aria-label="Events">
      <div className="bar">
        <h2>Events</h2>
        {chip('', `all ${count(calls.length)}`)}
        {chip('writes', `writes ${count(writes)}`)}
        {chip('failed', `failed ${count(failures)}`)}
        <A className="chip" to={link('session', detail.name)}>slices</A>
        {searching && (
          <input autoFocus type="search" aria-label="Search events" placeholder="tool, path or error" value={filter.startsWith('~') ? filter.slice(1) : ''}
            onChange={(event) => props.onFilter(event.target.value === '' ? '' : `~${event.target.value}`)}
            onKeyDown={(event) => { if (event.key === 'Escape') { props.onFilter(''); props.onSearching(false); } }} />
        )}
        <span className="sp" />
        <button type="button" className="chip" aria-pressed={rangeOnly} onClick={() => props.onRangeOnly(!rangeOnly)}>range A–B only</button>
        <button type="button" className="quiet" aria-label="Hide the events" onClick={props.onHide}>▾</button>
      </div>
      {indices.length === 0
        ? <p className="empty quiet">{calls.length === 0 ? 'No calls yet. They appear here while an agent works.' : 'No event matches.'}</p>
        : (
          <Rows className="events" role="listbox" aria-label="Tool calls" count={indices.length} height={24} handle={list}
            aria-activedescendant={place >= 0 ? `ev-${selected}` : undefined}
            onWheel={(event) => { if (following && event.deltaY < 0) props.onFollow(false); }}>
            {(row) => {
              const call = calls[indices[row] ?? -1];
              if (call === undefined) return null;
              const snapshot = call.after !== undefined && call.after !== call.before ? taken.get(call.after) : undefined;
              return (
                <div key={call.id} id={`ev-${call.id}`} className="ev" role="option" aria-selected={call.id === selected} aria-setsize={indices.length} aria-posinset={row + 1}
                  onClick={() => props.onSelect(call.id, false)} onDoubleClick={() => props.onSelect(call.id, true)}>
                  <span className="t">{clock(call.at, true)}</span>
                  <span className="tool">{plain(call.tool)}</span>
                  <span className="what">{call.fork !== undefined && <em>{call.fork}: </em>}{plain(call.about)}</span>
                  <span className="ms">{call.us > 0 ? duration(call.us) : ''}</span>
                  <span className={call.ok ? 'ok' : 'fail'}>{status(call)}</span>
                  <span className="sn">{snapshot && `◆ ${snapshotName(snapshot)}`}</span>
                </div>
              );
            }}
          </Rows>
        )}
    </section>
  );
}
