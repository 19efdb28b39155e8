import { sql } from 'kysely';
import { commitSync } from '../db/durability.ts';
import type { Db } from '../db/schema.ts';
import { batchQuestions } from '../loops/batches.ts';
import type { StreamKey } from './storeLines.ts';

const BATCH_STREAMS = 1_000;

/** Resolves when a stream's bytes up to `offset` are on the database's disk; false when a crash has lost them. */
export type WaitUntilDurable = (key: StreamKey, offset: number) => Promise<boolean>;

/** Lines are stored with an asynchronous commit (`storeLines.ts`); one wait for the disk serves all waiting streams. */
export function batchDurabilityWaits(db: Db): WaitUntilDurable {
  const ask = batchQuestions<StreamOffset, boolean>(BATCH_STREAMS, (stretches) => waitForBatch(db, stretches));
  return ({ containerId, epoch }, offset) => ask({ containerId, epoch, offset });
}

interface StreamOffset {
  containerId: number;
  epoch: string;
  offset: number;
}

/** Waits and checks in one statement: after a crash in between the stored offset is lower, or the statement fails. */
async function waitForBatch(db: Db, stretches: readonly StreamOffset[]): Promise<boolean[]> {
  const { rows } = await sql<{ kept: boolean }>`
    select coalesce(stream.stored_bytes >= asked.stored, false) as kept
    from ${commitSync} as written, unnest(
      ${stretches.map(({ containerId }) => containerId)}::integer[],
      ${stretches.map(({ epoch }) => epoch)}::text[],
      ${stretches.map(({ offset }) => offset)}::bigint[]
    ) with ordinality as asked (container_id, epoch, stored, nr)
    left join log_stream stream on stream.container_id = asked.container_id and stream.epoch = asked.epoch
    order by asked.nr`.execute(db);
  return rows.map(({ kept }) => kept);
}
