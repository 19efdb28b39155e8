import type { MetricSeries } from '@stagi/contract/metrics.ts';
import { describe, expect, it } from 'vitest';
import { chartsOf, indexAfterKey, summaryOf } from './charts.ts';

const series = (name: MetricSeries['name'], unit: MetricSeries['unit'], gpu?: number): MetricSeries => ({
  name,
  unit,
  ...(gpu === undefined ? {} : { gpu }),
  limit: 8,
  avg: [1, null, 3],
  max: [2, null, 5],
});

describe('the charts of metrics', () => {
  it('are one for each kind, and four for each GPU; what was not measured has none', () => {
    const charts = chartsOf([
      series('cpu', 'cores'),
      series('memory', 'bytes'),
      series('received', 'bytes/s'),
      series('sent', 'bytes/s'),
      series('gpuUse', '%', 1),
      series('gpuPower', 'W', 1),
      series('gpuUse', '%', 3),
    ]);
    expect(charts.map(({ key, gpu, lines }) => [key, gpu, lines.length])).toEqual([
      ['cpu', null, 1],
      ['memory', null, 1],
      ['received', null, 2],
      ['1gpuUse', 1, 1],
      ['1gpuPower', 1, 1],
      ['3gpuUse', 3, 1],
    ]);
    expect(charts.map(({ limit }) => limit)).toEqual([8, 8, null, 8, 8, 8]);
    expect(chartsOf([])).toEqual([]);
  });

  it('are summed up without gaps', () => {
    expect(summaryOf(series('cpu', 'cores'))).toEqual({ min: 1, avg: 2, max: 5 });
    expect(summaryOf({ ...series('cpu', 'cores'), avg: [null], max: [null] })).toBeNull();
  });

  it('are walked by keys', () => {
    expect(indexAfterKey('ArrowLeft', null, 5)).toBe(4);
    expect(indexAfterKey('ArrowLeft', 0, 5)).toBe(0);
    expect(indexAfterKey('ArrowRight', 4, 5)).toBe(4);
    expect(indexAfterKey('Home', 3, 5)).toBe(0);
    expect(indexAfterKey('PageUp', 3, 50)).toBe(0);
    expect(indexAfterKey('a', 3, 5)).toBeNull();
  });
});
