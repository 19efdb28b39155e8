import type { Context } from '../context.ts';
import { isBackupRunning } from '../db/backupLock.ts';
import { limitConcurrency } from '../loops/concurrency.ts';
import { type Loop, repeatEvery } from '../loops/repeatEvery.ts';
import { blobName } from './blobs.ts';
import { discardLeftOver } from './writeBlob.ts';

const EVERY_MS = 1_000;
const AT_ONCE = 500;
const PARALLEL = 8;

type Surroundings = Pick<Context, 'db' | 'blobs' | 'log'>;

/** Removes the bytes of doomed blobs. No request waits for it. */
export function startRemoval(ctx: Surroundings): Loop {
  return repeatEvery(ctx, EVERY_MS, 'removal of bytes', async () => {
    await discardLeftOver(ctx);
    await removeDoomed(ctx);
  });
}

/** A location that fails does not keep others from being cleared. */
export async function removeDoomed(ctx: Surroundings): Promise<void> {
  for (const location of ctx.blobs.keys()) {
    try {
      while ((await removeSome(ctx, location)) === AT_ONCE);
    } catch (error) {
      ctx.log.warn({ err: error, location }, 'cannot remove bytes yet');
    }
  }
}

/** First the bytes, then the row: after a crash between, it is done again. Answers how many there were. */
async function removeSome({ db, blobs }: Surroundings, location: string): Promise<number> {
  const doomed = await db
    .selectFrom('s3_blob')
    .select('id')
    .where('state', '=', 'doomed')
    .where('location', '=', location)
    .orderBy('created_at')
    .limit(AT_ONCE)
    .execute();
  // Asked after the rows were read: a backup that begins later does not name them.
  if (doomed.length === 0 || (await isBackupRunning(db))) return 0;
  const store = blobs.get(location)!;
  const limit = limitConcurrency(PARALLEL);
  await Promise.all(doomed.map(({ id }) => limit(() => store.remove(blobName(id)))));
  await db
    .deleteFrom('s3_blob')
    .where('state', '=', 'doomed')
    .where(
      'id',
      'in',
      doomed.map(({ id }) => id),
    )
    .execute();
  return doomed.length;
}
