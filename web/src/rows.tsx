// A list that has only the rows in the page that are seen.

import {
  useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState,
  type HTMLAttributes, type ReactNode, type Ref,
} from 'react';

export interface RowsHandle {
  /** Scrolls so that a row is seen. */
  show: (index: number, align?: 'near' | 'center') => void;
  element: HTMLDivElement | null;
}

interface RowsProps extends Omit<HTMLAttributes<HTMLDivElement>, 'children'> {
  count: number;
  height: number;
  children: (index: number) => ReactNode;
  handle?: Ref<RowsHandle>;
  /** Says which rows are seen. */
  onSeen?: (first: number, last: number) => void;
  /** Whether rows may be wider than the list. */
  wide?: boolean;
}

const MORE = 8;

export function Rows({ count, height, children, handle, onSeen, wide, ...rest }: RowsProps) {
  const element = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ first: 0, last: 60 });
  const seen = useRef(onSeen);
  seen.current = onSeen;

  const measure = useCallback(() => {
    const it = element.current;
    if (it === null) return;
    const first = Math.max(0, Math.floor(it.scrollTop / height) - MORE);
    const last = Math.ceil((it.scrollTop + it.clientHeight) / height) + MORE;
    setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
  }, [height]);

  useLayoutEffect(() => {
    measure();
    const it = element.current;
    if (it === null) return;
    const observer = new ResizeObserver(measure);
    observer.observe(it);
    return () => observer.disconnect();
  }, [measure, count]);

  useEffect(() => {
    seen.current?.(range.first, Math.min(range.last, count - 1));
  }, [range, count]);

  useImperativeHandle(handle, () => ({
    element: element.current,
    show: (index, align = 'near') => {
      const it = element.current;
      if (it === null || index < 0) return;
      const top = index * height;
      if (align === 'center') {
        it.scrollTop = Math.max(0, top - it.clientHeight / 2);
      } else if (top < it.scrollTop) {
        it.scrollTop = top;
      } else if (top + height > it.scrollTop + it.clientHeight) {
        it.scrollTop = top + height - it.clientHeight;
      }
      measure();
    },
  }), [height, measure]);

  const last = Math.min(range.last, count);
  const shown: ReactNode[] = [];
  for (let index = Math.min(range.first, count); index < last; index += 1) shown.push(children(index));
  return (
    <div tabIndex={0} {...rest} ref={element} onScroll={measure} className={`rows ${rest.className ?? ''}`}>
      <div className={wide ? 'rows-in wide' : 'rows-in'} role="presentation"
        style={{ height: count * height }}>
        <div role="presentation" className="rows-at" style={{ transform: `translateY(${Math.min(range.first, count) * height}px)` }}>
          {shown}
        </div>
      </div>
    </div>
  );
}
