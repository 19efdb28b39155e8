import { sql } from 'kysely';
import { inBatches } from '../batches.ts';
import { committedNow } from '../db/durability.ts';
import type { Db } from '../db/schema.ts';
import type { StreamKey } from './store.ts';

const BATCH_STREAMS = 1_000;

/** Resolves when a stream's bytes up to `offset` outlive the database; false when it died and has lost them. */
export type LogKeeper = (key: StreamKey, offset: number) => Promise<boolean>;

/** Lines are stored without waiting for the disk (`store.ts`): one wait serves all streams that ask for it meanwhile. */
export function openLogKeeper(db: Db): LogKeeper {
  const ask = inBatches<Stretch, boolean>(BATCH_STREAMS, (stretches) => keep(db, stretches));
  return ({ containerId, epoch }, offset) => ask({ containerId, epoch, offset });
}

interface Stretch {
  containerId: number;
  epoch: string;
  offset: number;
}

/** Looks and waits in one statement: a database that came back in between is seen to have less, or answers nothing. */
async function keep(db: Db, stretches: readonly Stretch[]): Promise<boolean[]> {
  const { rows } = await sql<{ kept: boolean }>`
    select coalesce(stream.stored_bytes >= asked.stored, false) as kept
    from ${committedNow} as written, unnest(
      ${stretches.map(({ containerId }) => containerId)}::integer[],
      ${stretches.map(({ epoch }) => epoch)}::text[],
      ${stretches.map(({ offset }) => offset)}::bigint[]
    ) with ordinality as asked (container_id, epoch, stored, nr)
    left join log_stream stream on stream.container_id = asked.container_id and stream.epoch = asked.epoch
    order by asked.nr`.execute(db);
  return rows.map(({ kept }) => kept);
}
