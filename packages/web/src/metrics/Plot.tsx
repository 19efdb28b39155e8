import { useComputedColorScheme } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChartSpec } from './charts.ts';
import { indexAfterKey } from './charts.ts';
import { formatTick, formatTimeTick, STEPS_OF_BYTES } from './figures.ts';
import classes from './Metrics.module.css';

const HEIGHT_PX = 160;
const Y_AXIS_PX = 64;
const X_TICK_PX = 76;
/** A press that moves less than this is a click. */
const DRAG_PX = 6;
/** What is farther from every point, and more than a step away, is at none. */
const REACH_PX = 16;

export interface PlotProps {
  chart: ChartSpec;
  times: readonly number[];
  /** The ends of the time axis, in seconds. */
  from: number;
  to: number;
  /** Seconds from one point to the next. */
  step: number;
  /** The point that the cursor of all charts is at. */
  index: number | null;
  onIndex(index: number | null): void;
  /** The point was clicked, or Enter was pressed on it. */
  onHold(index: number): void;
  onZoom(fromSeconds: number, toSeconds: number): void;
  label: string;
  /** What is said of the point at the cursor. */
  words: string;
}

/** The canvas of one chart. The keys of the arrows move the cursor as the pointer does. */
export function Plot(props: PlotProps) {
  const { chart, times, from, to, index, onIndex, onHold, label, words } = props;
  const scheme = useComputedColorScheme('light');
  const box = useRef<HTMLDivElement>(null);
  const { ref: sized, width } = useElementSize<HTMLDivElement>();
  const ref = useMergedRef(box, sized);
  const plot = useRef<uPlot | null>(null);
  /** What the handlers of the canvas use: it is made once for many renderings. */
  const latest = useRef(props);
  latest.current = props;
  const shape = `${scheme} ${chart.unit} ${chart.lines.length} ${chart.limit !== null}`;

  // biome-ignore lint/correctness/useExhaustiveDependencies: made anew for another shape or theme; data and size follow below
  useEffect(() => {
    const host = box.current;
    if (!host || width === 0) return;
    const made = new uPlot(optionsOf(latest, host, width), dataOf(latest.current), host);
    // Otherwise its scales come later, and the cursor cannot be placed yet.
    made.batch(() => {});
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [shape, width === 0]);

  useEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height: HEIGHT_PX });
  }, [width]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the data of these
  useEffect(() => {
    const u = plot.current;
    u?.batch(() => u.setData(dataOf(latest.current), true));
  }, [chart, times, from, to]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another plot or another width has the cursor elsewhere
  useEffect(() => {
    const u = plot.current;
    if (!u || pointAt(u, latest.current) === index) return;
    const time = index === null ? undefined : times[index];
    const left = time === undefined ? -10 : u.valToPos(time, 'x');
    u.setCursor({ left, top: time === undefined ? -10 : 10 }, false);
  }, [index, times, shape, width]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape') onIndex(null);
    else if ((event.key === 'Enter' || event.key === ' ') && index !== null) {
      event.preventDefault();
      onHold(index);
    } else {
      const next = indexAfterKey(event.key, index, times.length);
      if (next === null) return;
      event.preventDefault();
      onIndex(next);
    }
  }

  return (
    <div
      ref={ref}
      className={classes.plot}
      style={{ height: HEIGHT_PX }}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={1}
      aria-valuemax={Math.max(1, times.length)}
      aria-valuenow={(index ?? times.length - 1) + 1}
      aria-valuetext={words}
      data-testid={`metrics-${chart.key}`}
      onKeyDown={onKeyDown}
      onBlur={() => onIndex(null)}
    />
  );
}

/** Averages as lines, the highest as the edge of a shade above them, the limit as a dashed line. */
function dataOf({ chart, times, from, to }: PlotProps): uPlot.AlignedData {
  // The ends of the range, where nothing is measured. The first stretch may begin before it, and times must rise.
  const x = [Math.min(from, times[0] ?? from), ...times, Math.max(to, times.at(-1) ?? to)];
  const padded = (figures: readonly (number | null)[]) => [null, ...figures, null];
  return [
    x,
    ...chart.lines.flatMap(({ series }) => [padded(series.avg), padded(series.max)]),
    ...(chart.limit === null ? [] : [x.map(() => chart.limit)]),
  ];
}

function optionsOf(latest: { current: PlotProps }, host: HTMLElement, width: number): uPlot.Options {
  const { chart } = latest.current;
  const style = getComputedStyle(host);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const strokes = [colour('--chart-1'), colour('--chart-2')];
  const font = `12px ${style.fontFamily}`;
  const axis = { stroke: colour('--muted'), font, ticks: { show: false } };
  const grid = { stroke: colour('--line'), width: 1 };
  let pressedAt: number | null = null;
  return {
    width,
    height: HEIGHT_PX,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: DRAG_PX },
      points: { size: 6 },
      // Only averages are marked: every second line, and not the limit.
      dataIdx: (_u, series, closest) => (series % 2 === 1 && series < 2 * chart.lines.length ? closest : null),
      // Not the hook of the cursor: uPlot also calls that when figures or sizes change, as if somebody had pointed.
      bind: {
        mousemove: (u, _target, handle) => (event) => {
          const answer = handle(event);
          latest.current.onIndex(pointAt(u, latest.current));
          return answer;
        },
        mouseleave: (_u, _target, handle) => (event) => {
          const answer = handle(event);
          latest.current.onIndex(null);
          return answer;
        },
        mousedown: (_u, _target, handle) => (event) => {
          pressedAt = event.clientX;
          return handle(event);
        },
        mouseup: (u, _target, handle) => (event) => {
          const isClick = pressedAt !== null && Math.abs(event.clientX - pressedAt) < DRAG_PX;
          const answer = handle(event);
          const index = pointAt(u, latest.current);
          if (isClick && index !== null) latest.current.onHold(index);
          pressedAt = null;
          return answer;
        },
      },
    },
    scales: {
      x: { time: true, range: () => [latest.current.from, latest.current.to] },
      y: { range: (_u, _min, max) => [0, topOf(max, latest.current.chart)] },
    },
    series: [
      {},
      ...chart.lines.flatMap((_line, n) => [
        { stroke: strokes[n], width: 1.5, points: { show: false, filter: alone } },
        { stroke: 'transparent', width: 0, points: { show: false } },
      ]),
      ...(chart.limit === null ? [] : [{ stroke: colour('--muted'), width: 1, dash: [4, 4], points: { show: false } }]),
    ],
    bands: chart.lines.map((_line, n) => ({ series: [2 * n + 2, 2 * n + 1], fill: `${strokes[n]}33` })),
    axes: [
      { ...axis, grid, size: 28, space: X_TICK_PX, values: (u, splits) => splits.map((at) => timeTick(u, at)) },
      {
        ...axis,
        grid,
        size: Y_AXIS_PX,
        space: 32,
        ...(chart.unit.startsWith('bytes') ? { incrs: STEPS_OF_BYTES } : {}),
        values: (_u, splits) => splits.map((value) => formatTick(value, chart.unit)),
      },
    ],
    hooks: {
      setSelect: [
        (u) => {
          const { left, width: wide } = u.select;
          if (wide < DRAG_PX) return;
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          latest.current.onZoom(u.posToVal(left, 'x'), u.posToVal(left + wide, 'x'));
        },
      ],
    },
  };
}

/** The point of the answer that is near the cursor. The first and the last of the canvas are the ends of the range. */
function pointAt(u: uPlot, { times, step }: PlotProps): number | null {
  const { idx, left } = u.cursor;
  if (idx === null || idx === undefined || left === undefined || left < 0) return null;
  const index = Math.min(times.length - 1, Math.max(0, idx - 1));
  const time = times[index];
  if (time === undefined) return null;
  const at = u.valToPos(time, 'x');
  const reach = Math.max(REACH_PX, u.valToPos(time + step, 'x') - at);
  return Math.abs(at - left) <= reach ? index : null;
}

/** The points between two gaps, which would not be seen as a line. */
function alone(u: uPlot, series: number): number[] | null {
  const figures: (number | null | undefined)[] = [...(u.data[series] ?? [])];
  const found = figures.flatMap((figure, n) =>
    figure != null && (figures[n - 1] ?? null) === null && (figures[n + 1] ?? null) === null ? [n] : [],
  );
  return found.length > 0 ? found : null;
}

/** The limit and what lies above it; a chart of zeros has a height too. */
function topOf(max: number | null, { limit, unit }: ChartSpec): number {
  const most = Math.max(max ?? 0, limit ?? 0);
  const least = unit === 'cores' ? 0.1 : unit.startsWith('bytes') ? 1024 : 10;
  return Math.max(most * 1.05, least);
}

const timeTick = (u: uPlot, at: number): string =>
  formatTimeTick(at, (u.scales.x?.max ?? at) - (u.scales.x?.min ?? at));
