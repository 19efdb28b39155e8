import type { UsageSample } from '@stagi/contract/usageSample.ts';
import { sql } from 'kysely';
import pg from 'pg';
import type { Context } from '../context.ts';
import { commitAsync } from '../db/durability.ts';
import type { Db } from '../db/schema.ts';
import { makePartitions } from './partitions.ts';
import { AVERAGED, type Averaged, TOTALS, type Total } from './tables.ts';

const FLUSH_MS = 1_000;
/** PostgreSQL: a row of a time for which there is no partition. */
const NO_PARTITION = '23514';
const MAX_ROW_ID = 0x7fff_ffff;
const SMALLEST = 1e-9;

/** Batches the samples of all links of this process and writes them once a second in one statement. */
export interface UsageRecorder {
  /** Drops what comes sooner than half the interval after the sample before of the same link. */
  record(node: SampledNode, sample: UsageSample): void;
  stop(): Promise<void>;
}

interface SampledNode {
  instanceId: number;
  /** Samples of a link that a newer one has fenced are dropped. */
  epoch: number;
}

export function batchUsage(ctx: Pick<Context, 'config' | 'db' | 'log'>): UsageRecorder {
  let waiting = new Map<number, { epoch: number; sample: UsageSample }>();
  let timer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> = Promise.resolve();
  const lastOf = new WeakMap<SampledNode, number>();
  const shortestMs = ctx.config.sampleSeconds * 500;

  async function flush(): Promise<void> {
    const batch = [...waiting].map(([instanceId, { epoch, sample }]) => ({ instanceId, epoch, sample }));
    waiting = new Map();
    if (batch.length === 0) return;
    try {
      await writeSamples(ctx.db, batch);
    } catch (error) {
      // Not retried: the next sample comes in some seconds, and a gap is shown as one.
      ctx.log.warn({ err: error, servers: batch.length }, 'samples were not written');
    }
  }

  return {
    record(node, sample) {
      // A daemon that sends more often than it was asked to must not fill the tables.
      const now = performance.now();
      if (now - (lastOf.get(node) ?? Number.NEGATIVE_INFINITY) < shortestMs) return;
      lastOf.set(node, now);
      waiting.set(node.instanceId, { epoch: node.epoch, sample });
      timer ??= setTimeout(() => {
        timer = null;
        flushing = flushing.then(flush);
      }, FLUSH_MS);
    },
    async stop() {
      if (timer) clearTimeout(timer);
      await flushing;
      await flush();
    },
  };
}

/**
 * Writes one sample for each server, at the time of the database. Dropped are those of fenced or revoked links, and of
 * containers that are on another server. Returns how many rows were written.
 */
export async function writeSamples(db: Db, batch: readonly (SampledNode & { sample: UsageSample })[]): Promise<number> {
  const rows = JSON.stringify(batch.flatMap(rowsOf), (_, value) => (isTooSmall(value) ? 0 : value));
  try {
    return await insertRows(db, batch, rows);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== NO_PARTITION) throw error;
    // The worker makes them ahead; it has not run yet, or not for days.
    await makePartitions(db, new Date());
    return insertRows(db, batch, rows);
  }
}

/** PostgreSQL refuses a figure that is too small for a `real`, and with it the samples of all servers. */
const isTooSmall = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) < SMALLEST;

async function insertRows(db: Db, batch: readonly SampledNode[], rows: string): Promise<number> {
  const columns = sql.join([...AVERAGED, ...TOTALS].map((name) => sql.ref(name)));
  const typed = sql.raw([...AVERAGED, ...TOTALS].map((name) => `${name} real`).join(', '));
  const { numAffectedRows } = await sql`
    with live as materialized (
      select instance_id, ${commitAsync}
      from daemon_node
      join unnest(${batch.map(({ instanceId }) => instanceId)}::int[], ${batch.map(({ epoch }) => epoch)}::int[])
        as heard (id, epoch) on instance_id = heard.id and conn_epoch = heard.epoch
      where revoked_at is null
    )
    insert into usage_sample_15s (instance_id, container_id, gpu, at, samples, ${columns})
    select live.instance_id, container_id, gpu, now(), 1, ${columns}
    from json_to_recordset(${rows}) as sample (instance_id int, container_id int, gpu smallint, ${typed})
    join live on live.instance_id = sample.instance_id
    where container_id = 0 or exists (
      select from container c where c.id = sample.container_id and c.instance_id = sample.instance_id)
    on conflict do nothing`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

type Row = { instance_id: number; container_id: number; gpu: number } & Partial<
  Record<Averaged | Total, number | null>
>;

/** One row for the server, one for each GPU and one for each container. */
function rowsOf({ instanceId, sample }: SampledNode & { sample: UsageSample }): Row[] {
  const { server, gpus, containers } = sample;
  const { memoryTotal, disk, dataDisk, ...own } = server;
  const unique = <T>(items: readonly T[], key: (item: T) => number) => [
    ...new Map(items.map((item) => [key(item), item])).values(),
  ];
  return [
    {
      instance_id: instanceId,
      container_id: 0,
      gpu: -1,
      ...own,
      memory_total: memoryTotal,
      disk: disk.used,
      disk_total: disk.total,
      data_disk: dataDisk?.used ?? null,
      data_disk_total: dataDisk?.total ?? null,
    },
    ...unique(gpus, ({ index }) => index).map(({ index, use, memory, memoryTotal, temperature, power }) => ({
      instance_id: instanceId,
      container_id: 0,
      gpu: index,
      gpu_use: use,
      gpu_memory: memory,
      gpu_memory_total: memoryTotal,
      gpu_temperature: temperature,
      gpu_power: power,
    })),
    ...unique(containers, ({ id }) => id)
      // A daemon may report any number; row ids fit into 31 bits.
      .filter(({ id }) => id <= MAX_ROW_ID)
      .map(({ id, ...used }) => ({ instance_id: instanceId, container_id: id, gpu: -1, ...used })),
  ];
}
