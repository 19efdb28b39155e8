import type { Metrics } from '@stagi/contract/metrics.ts';

const HOUR_MS = 3_600_000;
/** Of the recorded figures. */
const STEPS_S = [15, 60, 300, 900, 3_600, 14_400];

/**
 * Figures of the range that is asked for, from the hour that was recorded, over and over: a chart is as dense in the
 * demo as on the platform.
 */
export function metricsAnswer(body: object, input: object, now: number): Metrics {
  const recorded = body as Metrics;
  const { from, to, points = 500 } = input as { from?: string; to?: string; points?: number };
  const end = to ? Date.parse(to) : now;
  const start = from ? Date.parse(from) : end - HOUR_MS;
  const step = STEPS_S.find((seconds) => (end - start) / 1000 / seconds <= points) ?? 86_400;
  const first = Math.ceil(start / 1000 / step) * step;
  const last = Math.floor(Math.min(end, now) / 1000 / step) * step;
  const times = Array.from({ length: Math.max(0, (last - first) / step + 1) }, (_, index) => first + index * step);
  const length = recorded.times.length;
  const at = (figures: (number | null)[], time: number) => figures[Math.floor(time / recorded.step) % length] ?? null;
  return {
    ...recorded,
    from: new Date(start).toISOString(),
    to: new Date(end).toISOString(),
    step,
    times,
    series: recorded.series.map((series) => ({
      ...series,
      avg: times.map((time) => at(series.avg, time)),
      max: times.map((time) => at(series.max, time)),
    })),
    lastAt: new Date(now - 4_000).toISOString(),
  };
}
