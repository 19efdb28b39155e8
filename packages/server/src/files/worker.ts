import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { isBackupRunning } from '../db/backupLock.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { isOurPlace } from '../quarantine/belongsToUs.ts';
import { inStore, type Listed, type Place } from '../quarantine/place.ts';
import { quarantineUnknown } from '../quarantine/quarantineUnknown.ts';
import { blobName, FILES_FOLDER } from './keep.ts';
import { moveIn } from './moveIn.ts';

const EVERY_MS = 60_000;
const COMPARE_EVERY_MS = 3_600_000;
const BATCH = 200;
/** An intent that is older was left by a process that has ended: a call has 30 s. */
const ABANDONED = sql<Date>`now() - interval '1 hour'`;
const OURS = new RegExp(`^${FILES_FOLDER}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`);

type Keeper = Pick<Context, 'db' | 'files'>;
type Surroundings = Pick<Context, 'db' | 'files' | 'log' | 'meters' | 'installationId'>;

/** Moves files in from the database, and removes those that nothing refers to any more. */
export function startFileWorker(ctx: Context): { stop(): Promise<void> } {
  const settling = repeatEvery(ctx, EVERY_MS, 'settling of files', async () => {
    const moved = await moveIn(ctx);
    if (moved > 0) ctx.log.info({ moved }, 'moved images from the database to the file store');
    await removeDoomed(ctx);
  });
  const comparing = repeatEvery(ctx, COMPARE_EVERY_MS, 'comparison of files', () => compareFiles(ctx), EVERY_MS);
  return {
    async stop() {
      await Promise.all([settling.stop(), comparing.stop()]);
    },
  };
}

/** Removes the bytes of replaced, deleted and abandoned files, then their rows. */
export async function removeDoomed({ db, files }: Keeper): Promise<void> {
  await db
    .updateTable('stored_file')
    .set({ state: 'doomed' })
    .where('state', '=', 'writing')
    .where('created_at', '<', ABANDONED)
    .execute();
  for (;;) {
    const doomed = await db.selectFrom('stored_file').select('id').where('state', '=', 'doomed').limit(BATCH).execute();
    // Asked after the rows were read: a backup that begins later does not name them.
    if (doomed.length === 0 || (await isBackupRunning(db))) return;
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

/** Quarantines files without a row. Others may keep files of their own beside them. */
export async function compareFiles(ctx: Surroundings): Promise<void> {
  const place: Place = {
    name: 'files',
    list: () => listOurs(ctx),
    known: (names) => knownFiles(ctx, names),
    ...inStore(ctx.files),
  };
  if (await isOurPlace(ctx, place.name, ctx.files)) await quarantineUnknown(ctx, place);
}

async function* listOurs({ files }: Surroundings): AsyncGenerator<Listed> {
  for await (const { name, size } of files.list(FILES_FOLDER)) if (OURS.test(name)) yield { name, bytes: size };
}

async function knownFiles({ db }: Surroundings, names: readonly string[]): Promise<ReadonlySet<string>> {
  const ids = names.map((name) => name.slice(FILES_FOLDER.length));
  const { rows } = await sql<{ id: string }>`select id from stored_file where id = any(${ids}::uuid[])`.execute(db);
  return new Set(rows.map(({ id }) => blobName(id)));
}
