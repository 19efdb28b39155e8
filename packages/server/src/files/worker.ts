import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { blobName, FILES_FOLDER } from './keep.ts';
import { moveIn } from './moveIn.ts';

const EVERY_MS = 60_000;
const SWEEP_EVERY_MS = 3_600_000;
const BATCH = 200;
/** An intent that is older was left by a process that has ended: a call has 30 s. */
const ABANDONED = sql<Date>`now() - interval '1 hour'`;
/** Files without a row are kept so long, as the wrong database may have been configured. */
const ORPHAN_KEPT_MS = 86_400_000;
const OURS = new RegExp(`^${FILES_FOLDER}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`);

type Sweeper = Pick<Context, 'db' | 'files' | 'log'>;

/** Moves files in from the database, and removes those that nothing refers to any more. */
export function startFileWorker(ctx: Context): { stop(): Promise<void> } {
  const settling = repeatEvery(ctx, EVERY_MS, 'settling of files', async () => {
    const moved = await moveIn(ctx);
    if (moved > 0) ctx.log.info({ moved }, 'moved images from the database to the file store');
    await removeDoomed(ctx);
  });
  const sweeping = repeatEvery(ctx, SWEEP_EVERY_MS, 'sweep of files', () => sweepOrphans(ctx), EVERY_MS);
  return {
    async stop() {
      await Promise.all([settling.stop(), sweeping.stop()]);
    },
  };
}

/** Removes the bytes of replaced, deleted and abandoned files, then their rows. */
export async function removeDoomed({ db, files }: Sweeper): Promise<void> {
  await db
    .updateTable('stored_file')
    .set({ state: 'doomed' })
    .where('state', '=', 'writing')
    .where('created_at', '<', ABANDONED)
    .execute();
  for (;;) {
    const doomed = await db.selectFrom('stored_file').select('id').where('state', '=', 'doomed').limit(BATCH).execute();
    if (doomed.length === 0) return;
    for (const { id } of doomed) await files.remove(blobName(id));
    await db
      .deleteFrom('stored_file')
      .where(
        'id',
        'in',
        doomed.map(({ id }) => id),
      )
      .execute();
  }
}

/**
 * Removes files that have no row, as after a restore of an older database. A row is older than its bytes, so one that is
 * missing after the listing will never come.
 */
export async function sweepOrphans({ db, files, log }: Sweeper, olderThanMs = ORPHAN_KEPT_MS): Promise<void> {
  const before = Date.now() - olderThanMs;
  let names: string[] = [];
  const removeUnknown = async (): Promise<void> => {
    const ids = names.map((name) => name.slice(FILES_FOLDER.length));
    const known = await db.selectFrom('stored_file').select('id').where('id', 'in', ids).execute();
    const kept = new Set(known.map(({ id }) => blobName(id)));
    const orphans = names.filter((name) => !kept.has(name));
    for (const name of orphans) await files.remove(name);
    if (orphans.length > 0) log.warn({ orphans: orphans.length }, 'removed files without a row');
    names = [];
  };
  for await (const { name, modifiedAt } of files.list(FILES_FOLDER)) {
    if (OURS.test(name) && modifiedAt.getTime() < before) names.push(name);
    if (names.length === BATCH) await removeUnknown();
  }
  if (names.length > 0) await removeUnknown();
}
