import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { commitAsync } from '../db/durability.ts';
import { recordHeartbeats } from '../instances/daemonSignals.ts';
import type { NodeConnection } from './nodeConnection.ts';

const FLUSH_MS = 1_000;

/** Batches the heartbeats of all links of this process and writes them once a second in one statement. */
export interface Heartbeats {
  record(node: NodeConnection): void;
  stop(): Promise<void>;
}

export function batchHeartbeats(ctx: Context): Heartbeats {
  let heard = new Map<number, number>();
  let timer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> = Promise.resolve();

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = null;
      flushing = flushing.then(flush);
    }, FLUSH_MS);
  }

  async function flush(): Promise<void> {
    const batch = heard;
    heard = new Map();
    if (batch.size === 0) return;
    try {
      await recordHeartbeats(ctx, await writeBatch(ctx, batch));
    } catch (error) {
      // Not retried: the next heartbeat comes in ten seconds.
      ctx.log.warn({ err: error, beats: batch.size }, 'heartbeats were not written');
    }
  }

  return {
    record({ instanceId, epoch }) {
      heard.set(instanceId, epoch);
      schedule();
    },
    async stop() {
      if (timer) clearTimeout(timer);
      await flushing;
      await flush();
    },
  };
}

async function writeBatch(ctx: Context, batch: ReadonlyMap<number, number>): Promise<number[]> {
  const { rows } = await sql<{ instance_id: number }>`
    update daemon_node set last_seen_at = now()
    from unnest(${[...batch.keys()]}::int[], ${[...batch.values()]}::int[]) as heard (id, epoch),
      ${commitAsync}
    where instance_id = heard.id and conn_epoch = heard.epoch and revoked_at is null
    returning instance_id`.execute(ctx.db);
  return rows.map((row) => row.instance_id);
}
