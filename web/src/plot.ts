// Plots; a part of their own, because only one screen has them.

import uPlot from 'uplot';
import type { CallSummary, SnapshotSummary } from './types.ts';
import { bytes, duration, snapshotName } from './text.ts';

function style(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function axes(format: (value: number) => string, x: (value: number) => string): uPlot.Axis[] {
  const look = { stroke: style('--mut'), grid: { stroke: style('--line'), width: 1 }, ticks: { stroke: style('--line') }, font: '11px sans-serif' };
  return [
    { ...look, values: (_, values) => values.map((value) => (Number.isInteger(value) ? x(value) : '')) },
    { ...look, size: 70, values: (_, values) => values.map((value) => (value === null ? '' : format(value))) },
  ];
}

function fitted(place: HTMLElement, options: uPlot.Options, data: uPlot.AlignedData): () => void {
  place.replaceChildren();
  const plot = new uPlot({ ...options, width: Math.max(200, place.clientWidth), height: 180 }, data, place);
  const observer = new ResizeObserver(() => plot.setSize({ width: Math.max(200, place.clientWidth), height: 180 }));
  observer.observe(place);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
}

export function durations(place: HTMLElement, calls: CallSummary[]): () => void {
  // What another process did has no duration.
  const at = calls.map((_, index) => index + 1);
  const of = (wanted: (call: CallSummary) => boolean) => calls.map((call) => (wanted(call) && call.us > 0 ? call.us : null));
  const points = (label: string, color: string): uPlot.Series => ({ label, stroke: color, paths: () => null, points: { show: true, size: 5, fill: color } });
  return fitted(place, {
    width: 0, height: 0, legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false }, y: { distr: 3 } },
    series: [{}, points('read', style('--read')), points('write', style('--acc')), points('exec', style('--vio')), points('failed', style('--err'))],
    axes: axes(duration, String).map((axis) => ({ ...axis, grid: { show: false } })),
  }, [at, of((it) => it.ok && it.kind === 'read'), of((it) => it.ok && it.kind === 'write'), of((it) => it.ok && it.kind === 'exec'), of((it) => !it.ok)]);
}

export function sizes(place: HTMLElement, snapshots: SnapshotSummary[]): () => void {
  const at = snapshots.map((_, index) => index + 1);
  const paths = uPlot.paths.bars?.({ size: [0.7, 40] });
  const series: uPlot.Series = { label: 'bytes', stroke: style('--warn'), fill: style('--warn'), points: { show: false }, ...(paths ? { paths } : {}) };
  return fitted(place, {
    width: 0, height: 0, legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, range: [0.4, snapshots.length + 0.6] }, y: { range: (_, __, max) => [0, Math.max(max, 1) * 1.1] } },
    series: [{}, series],
    axes: axes(bytes, (index) => { const it = snapshots[index - 1]; return it === undefined ? '' : snapshotName(it).slice(0, 14); }),
  }, [at, snapshots.map((it) => it.stored ?? it.bytes)]);
}
