import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { committedSoon } from '../db/durability.ts';
import { daemonBeats } from '../instances/readiness.ts';
import type { Connected } from './node.ts';

const FLUSH_MS = 1_000;

/** Gathers the beats of all links of this process and writes them once a second in one statement. */
export interface Heartbeats {
  beat(node: Connected): void;
  stop(): Promise<void>;
}

export function collectHeartbeats(ctx: Context): Heartbeats {
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
      await daemonBeats(ctx, await write(ctx, batch));
    } catch (error) {
      // The next beat comes in ten seconds and says the same.
      ctx.log.warn({ err: error, beats: batch.size }, 'heartbeats were not written');
    }
  }

  return {
    beat({ instanceId, epoch }) {
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

async function write(ctx: Context, batch: ReadonlyMap<number, number>): Promise<number[]> {
  const { rows } = await sql<{ instance_id: number }>`
    update daemon_node set last_seen_at = now()
    from unnest(${[...batch.keys()]}::int[], ${[...batch.values()]}::int[]) as heard (id, epoch),
      ${committedSoon}
    where instance_id = heard.id and conn_epoch = heard.epoch and revoked_at is null
    returning instance_id`.execute(ctx.db);
  return rows.map((row) => row.instance_id);
}
