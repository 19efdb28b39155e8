import { RESOLUTIONS, type Resolution } from '@stagi/contract/metrics.ts';
import { type RawBuilder, sql } from 'kysely';

/** The columns of what is averaged, each with its `…_max`. */
export const AVERAGED = [
  'cpu',
  'memory',
  'received',
  'sent',
  'read',
  'written',
  'disk',
  'data_disk',
  'gpu_use',
  'gpu_memory',
  'gpu_temperature',
  'gpu_power',
] as const;
export type Averaged = (typeof AVERAGED)[number];

/** The columns of how much there is. */
export const TOTALS = ['memory_total', 'disk_total', 'data_disk_total', 'gpu_memory_total'] as const;
export type Total = (typeof TOTALS)[number];

/** The columns that hold figures, in the order in which `aggregates` gives them. */
export const FIGURES: readonly string[] = [...AVERAGED, ...AVERAGED.map((name) => `${name}_max`), ...TOTALS];

export const tableOf = (resolution: Resolution) => `usage_sample_${resolution}` as const;

export const resolutionOf = (name: Resolution) => RESOLUTIONS.find((one) => one.name === name)!;

/** The figures of several rows as those of one. A row weighs as much as the samples that it is made of. */
export const aggregates: RawBuilder<unknown> = sql.raw(
  [
    ...AVERAGED.map(
      (name) => `sum(${name}::float8 * samples) / nullif(sum(samples) filter (where ${name} is not null), 0)`,
    ),
    ...AVERAGED.map((name) => `max(coalesce(${name}_max, ${name}))`),
    ...TOTALS.map((name) => `max(${name})`),
  ]
    .map((expression, n) => `(${expression})::real as ${FIGURES[n]}`)
    .join(', '),
);
