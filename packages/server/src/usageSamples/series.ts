import {
  type MeasureName,
  type MeasureUnit,
  type MetricSeries,
  RESOLUTIONS,
  type Resolution,
} from '@stagi/contract/metrics.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { type Averaged, aggregates, FIGURES, type Total, tableOf } from './tables.ts';

/** A server (`containerId` 0) with its GPUs, or a container. */
export interface Subject {
  instanceId: number;
  containerId: number;
}

export interface Range {
  from: Date;
  to: Date;
  /** The most figures of a series. */
  points: number;
}

/** What is known of a limit from elsewhere than the samples. */
export type KnownLimits = Partial<Record<MeasureName, number | null>>;

/** Between two figures, in seconds: those that divide a day read best. */
const STEPS = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400] as const;
/** The samples themselves. */
const RAW_SECONDS = 15;
/** A pause between two samples that is longer is a gap. */
const GAP_SECONDS = 40;
const DAY_MS = 86_400_000;

const MEASURES: Record<MeasureName, { column: Averaged; total?: Total; unit: MeasureUnit; always?: true }> = {
  cpu: { column: 'cpu', unit: 'cores', always: true },
  memory: { column: 'memory', total: 'memory_total', unit: 'bytes', always: true },
  received: { column: 'received', unit: 'bytes/s' },
  sent: { column: 'sent', unit: 'bytes/s' },
  read: { column: 'read', unit: 'bytes/s' },
  written: { column: 'written', unit: 'bytes/s' },
  disk: { column: 'disk', total: 'disk_total', unit: 'bytes' },
  dataDisk: { column: 'data_disk', total: 'data_disk_total', unit: 'bytes' },
  gpuUse: { column: 'gpu_use', unit: '%' },
  gpuMemory: { column: 'gpu_memory', total: 'gpu_memory_total', unit: 'bytes' },
  gpuTemperature: { column: 'gpu_temperature', unit: '°C' },
  gpuPower: { column: 'gpu_power', unit: 'W' },
};

interface Row extends Record<string, number | null> {
  /** Seconds since 1970. */
  time: number;
  gpu: number;
}

/** The figures of a subject in a range, in the finest steps that are kept for it and fit into its points. */
export async function seriesOf(
  db: Db,
  subject: Subject,
  range: Range,
  known: KnownLimits,
  now: Date,
): Promise<{ step: number; times: number[]; series: MetricSeries[] }> {
  const step = stepFor(range, now);
  if (step === RAW_SECONDS) {
    const rows = await readRows(db, subject, range, step);
    const times = rawTimes(rows);
    if (times.length <= range.points) return { step, times, series: toSeries(rows, times, known) };
  }
  // Samples may come more often than planned, as after many reconnects.
  const even = Math.max(step, STEPS[1]);
  const times = evenTimes(range, even);
  return { step: even, times, series: toSeries(await readRows(db, subject, range, even), times, known) };
}

/** When the newest sample of a subject came. */
export async function lastSampleAt(db: Db, { instanceId, containerId }: Subject): Promise<Date | null> {
  for (const { name } of RESOLUTIONS) {
    const newest = await db
      .selectFrom(tableOf(name))
      .select('at')
      .where('instance_id', '=', instanceId)
      .where('container_id', '=', containerId)
      .where('gpu', '=', -1)
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (newest) return newest.at;
  }
  return null;
}

function stepFor({ from, to, points }: Range, now: Date): number {
  const seconds = (to.getTime() - from.getTime()) / 1000;
  const age = now.getTime() - from.getTime();
  const finest = RESOLUTIONS.find(({ days }) => age <= days * DAY_MS) ?? RESOLUTIONS.at(-1)!;
  // One more for the stretch in which the range ends.
  const fits = STEPS.find((step) => step >= finest.seconds && Math.floor(seconds / step) + 2 <= points);
  return fits ?? Math.ceil(seconds / (points - 2) / 86_400) * 86_400;
}

/** The rows of each table up to where the next coarser one begins: what is not thinned yet is in the finer one. */
async function readRows(db: Db, subject: Subject, { from, to }: Range, step: number): Promise<Row[]> {
  const marks = new Map(
    (await db.selectFrom('usage_thinning').selectAll().execute()).map(({ resolution, until }) => [resolution, until]),
  );
  const used = RESOLUTIONS.filter(({ seconds }) => seconds <= step);
  const start = new Date(Math.floor(from.getTime() / (step * 1000)) * step * 1000);
  const columns = sql.join(FIGURES.map((name) => sql.ref(name)));
  const parts = used.map(({ name }, n) => {
    const coarser = used[n + 1];
    const [after, before] = [coarser && marks.get(coarser.name), n === 0 ? undefined : marks.get(name)];
    return sql`select gpu, at, samples, ${columns} from ${sql.table(tableOf(name as Resolution))}
      where instance_id = ${subject.instanceId} and container_id = ${subject.containerId}
        and at >= ${start} and at < ${to}
        ${after ? sql`and at >= ${after}` : sql``} ${before ? sql`and at < ${before}` : sql``}`;
  });
  const all = sql.join(parts, sql` union all `);
  if (step === RAW_SECONDS) {
    const { rows } = await sql<Row>`select extract(epoch from at)::float8 as time, gpu, ${columns}
      from (${all}) as sample order by at`.execute(db);
    return rows;
  }
  const { rows } = await sql<Row>`
    select extract(epoch from date_bin(${`${step} seconds`}::interval, at, 'epoch'))::float8 as time, gpu, ${aggregates}
    from (${all}) as sample group by 1, 2 order by 1`.execute(db);
  return rows;
}

/** The times of the samples, and one more within each gap, where there is nothing. */
function rawTimes(rows: readonly Row[]): number[] {
  const times = [...new Set(rows.map(({ time }) => time))];
  return times.flatMap((time, n) => {
    const next = times[n + 1];
    return next !== undefined && next - time > GAP_SECONDS ? [time, time + RAW_SECONDS] : [time];
  });
}

function evenTimes({ from, to }: Range, step: number): number[] {
  const first = Math.floor(from.getTime() / 1000 / step);
  const count = Math.max(0, Math.ceil(to.getTime() / 1000 / step) - first);
  return Array.from({ length: count }, (_, n) => (first + n) * step);
}

function toSeries(rows: readonly Row[], times: readonly number[], known: KnownLimits): MetricSeries[] {
  const gpus = [...new Set(rows.map(({ gpu }) => gpu).filter((gpu) => gpu >= 0))].sort((a, b) => a - b);
  return [-1, ...gpus].flatMap((gpu) => {
    const own = rows.filter((row) => row.gpu === gpu);
    const at = new Map(own.map((row) => [row.time, row]));
    return Object.entries(MEASURES).flatMap(([name, { column, total, unit, always }]): MetricSeries[] => {
      if (column.startsWith('gpu') !== gpu >= 0) return [];
      const avg = times.map((time) => at.get(time)?.[column] ?? null);
      if (!always && avg.every((figure) => figure === null)) return [];
      const max = times.map((time, n) => at.get(time)?.[`${column}_max`] ?? avg[n] ?? null);
      const measured = total && own.findLast((row) => row[total] !== null)?.[total];
      const limit = known[name as MeasureName] ?? measured ?? null;
      return [{ name: name as MeasureName, unit, ...(gpu >= 0 ? { gpu } : {}), limit, avg, max }];
    });
  });
}
