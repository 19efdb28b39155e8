import type { MeasureName, MetricSeries } from '@stagi/contract/metrics.ts';
import { text } from '@stagi/contract/text.ts';

export interface Line {
  name: MeasureName;
  /** English; translated where it is shown. */
  label: string;
  series: MetricSeries;
}

/** One chart: lines of one unit. */
export interface ChartSpec {
  key: string;
  title: string;
  gpu: number | null;
  unit: MetricSeries['unit'];
  /** Drawn as a line; null where there is none, or the lines have several. */
  limit: number | null;
  lines: readonly Line[];
}

/** What is drawn together, in the order of the page; the first word of a chart is its title. */
const CHARTS: { title: string; lines: [MeasureName, string][] }[] = [
  { title: text('CPU'), lines: [['cpu', text('CPU')]] },
  { title: text('Memory'), lines: [['memory', text('Memory')]] },
  {
    title: text('Network'),
    lines: [
      ['received', text('Received')],
      ['sent', text('Sent')],
    ],
  },
  {
    title: text('Disk traffic'),
    lines: [
      ['read', text('Read')],
      ['written', text('Written')],
    ],
  },
  { title: text('Disk of Docker'), lines: [['disk', text('Used')]] },
  { title: text('Disk of volumes'), lines: [['dataDisk', text('Used')]] },
  { title: text('GPU {{gpu}}: use'), lines: [['gpuUse', text('Use')]] },
  { title: text('GPU {{gpu}}: memory'), lines: [['gpuMemory', text('Memory')]] },
  { title: text('GPU {{gpu}}: temperature'), lines: [['gpuTemperature', text('Temperature')]] },
  { title: text('GPU {{gpu}}: power'), lines: [['gpuPower', text('Power')]] },
];

/** The charts of an answer. What was not measured has none. */
export function chartsOf(series: readonly MetricSeries[]): ChartSpec[] {
  const gpus = [...new Set(series.flatMap(({ gpu }) => (gpu === undefined ? [] : [gpu])))];
  const ofMachine = CHARTS.filter(({ lines }) => !lines[0]![0].startsWith('gpu'));
  const ofGpu = CHARTS.filter(({ lines }) => lines[0]![0].startsWith('gpu'));
  return [
    ...ofMachine.map((chart) => specOf(chart, series, null)),
    ...gpus.flatMap((gpu) => ofGpu.map((chart) => specOf(chart, series, gpu))),
  ].filter((chart) => chart !== null);
}

function specOf(
  { title, lines }: (typeof CHARTS)[number],
  all: readonly MetricSeries[],
  gpu: number | null,
): ChartSpec | null {
  const found = lines.flatMap(([name, label]) => {
    const series = all.find((one) => one.name === name && (one.gpu ?? null) === gpu);
    return series ? [{ name, label, series }] : [];
  });
  const [first] = found;
  if (!first) return null;
  return {
    key: `${gpu ?? ''}${first.name}`,
    title,
    gpu,
    unit: first.series.unit,
    limit: found.length === 1 ? first.series.limit : null,
    lines: found,
  };
}

export interface Summary {
  min: number;
  avg: number;
  max: number;
}

/** Of a whole range; null where nothing was measured. */
export function summaryOf({ avg, max }: MetricSeries): Summary | null {
  const figures = avg.filter((figure) => figure !== null);
  if (figures.length === 0) return null;
  return {
    min: Math.min(...figures),
    avg: figures.reduce((sum, figure) => sum + figure, 0) / figures.length,
    max: Math.max(...max.filter((figure) => figure !== null)),
  };
}

/** The point that a key moves to; null for other keys. */
export function indexAfterKey(key: string, index: number | null, count: number): number | null {
  const last = count - 1;
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, (index ?? count) - 1);
    case 'ArrowRight':
      return index === null ? last : Math.min(last, index + 1);
    case 'PageUp':
      return Math.max(0, (index ?? count) - 10);
    case 'PageDown':
      return index === null ? last : Math.min(last, index + 10);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}
