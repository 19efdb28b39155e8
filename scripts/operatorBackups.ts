import { join } from 'node:path';
import type { BlobStore } from '@stagi/s3/blobStore.ts';
import { BackupRefused, listBackups, readManifest } from '../packages/server/src/backup/archive.ts';
import { createBackup } from '../packages/server/src/backup/create.ts';
import { openPlace } from '../packages/server/src/backup/place.ts';
import { releaseHeld } from '../packages/server/src/backup/release.ts';
import { reportRestored } from '../packages/server/src/backup/report.ts';
import { restoreBackup } from '../packages/server/src/backup/restore.ts';
import { verifyBackup } from '../packages/server/src/backup/verify.ts';
import type { Config } from '../packages/server/src/config/config.ts';
import { LOCAL_LOCATION } from '../packages/server/src/config/objectStorage.ts';
import type { Db } from '../packages/server/src/db/schema.ts';
import { requireOwnInstallation } from '../packages/server/src/installation/open.ts';
import { requireInstallation } from '../packages/server/src/installation/row.ts';
import { openStores } from '../packages/server/src/objects/stores.ts';
import { createSecretBox, loadSecretKey } from '../packages/server/src/secrets/secretBox.ts';
import { withDatabaseUrl, withPool } from './database.ts';

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export async function makeBackup(config: Config, place: string, keep: number | undefined): Promise<void> {
  await withPlace(place, (store) =>
    withDatabaseUrl(config, async (databaseUrl) => {
      await withPool(databaseUrl, ({ pg }) => requireOwnInstallation(pg, config));
      const key = loadSecretKey(config.secretKey, config.dataDir);
      const sources = { config, databaseUrl, secrets: createSecretBox(key), ...(await ownStores(config)) };
      const { name, manifest, copied, removed } = await createBackup(sources, store, { ...(keep && { keep }) });
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
      console.log(`Backup ${name} in ${place}`);
      console.log(`Database:          ${manifest.tables.length} tables, ${rows} rows`);
      console.log(`Repositories:      ${manifest.repositories.length}`);
      console.log(
        `Objects and files: ${manifest.blobs.count} (${megabytes(manifest.blobs.bytes)}), ` +
          `${copied.count} of them new (${megabytes(copied.bytes)})`,
      );
      if (manifest.absent.length > 0) console.log(`Not there:         ${manifest.absent.join(', ')}`);
      if (manifest.elsewhere.length > 0)
        console.log(`Not in a backup:   the objects in ${manifest.elsewhere.join(', ')}, which are other S3 services`);
      if (removed.length > 0) console.log(`Removed:           ${removed.join(', ')}`);
      const keptIn = config.secretKey ? 'STAGI_SECRET_KEY' : join(config.dataDir, 'secret.key');
      console.log(
        `It opens with secret key ${manifest.installation.keyId} alone, which is not in it. Keep the content of ${keptIn} elsewhere.`,
      );
    }),
  );
}

export async function showBackups(place: string): Promise<void> {
  await withPlace(place, async (store) => {
    const { whole, broken } = await listBackups(store);
    if (whole.length === 0) console.log(`No backup in ${place}`);
    for (const name of whole) {
      const { takenAt, version, tables, repositories, blobs } = await readManifest(store, name);
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      console.log(
        `${name}  of ${takenAt}, version ${version}: ${rows} rows, ${repositories.length} repositories, ` +
          `${blobs.count} objects and files (${megabytes(blobs.bytes)})`,
      );
    }
    for (const name of broken) console.log(`${name}  broken off, or being made; the next backup removes it`);
  });
}

/** Answers 1 when a part is missing or damaged. */
export async function checkBackup(place: string, named: string | undefined): Promise<number> {
  return withPlace(place, async (store) => {
    const name = named ?? (await newest(store, place));
    const { parts, bytes, problems } = await verifyBackup(store, name);
    for (const problem of problems) console.log(problem);
    console.log(
      problems.length === 0
        ? `Backup ${name} is whole: ${parts} parts, ${megabytes(bytes)}, all as they were written`
        : `Backup ${name}: ${problems.length} of ${parts} parts are damaged or missing`,
    );
    return problems.length === 0 ? 0 : 1;
  });
}

export async function restore(config: Config, place: string, named: string | undefined): Promise<void> {
  await withPlace(place, (store) =>
    withDatabaseUrl(
      config,
      async (databaseUrl) => {
        const name = named ?? (await newest(store, place));
        const target = { config, databaseUrl, ...(await ownStores(config)) };
        const { manifest, lost } = await restoreBackup(target, store, name);
        console.log(
          `Restored backup ${name} of ${manifest.installation.appOrigin}, made by version ${manifest.version}.`,
        );
        for (const loss of lost) console.log(`LOST: ${loss}`);
        for (const absent of manifest.absent) console.log(`Not in the backup, as it was not there: ${absent}`);
        for (const location of manifest.elsewhere)
          console.log(`Not in the backup: the objects in ${location}. Configure this S3 service as before.`);
        console.log(`It is at ${config.appOrigin} from now on: configure all its processes so.`);
        await withPool(databaseUrl, ({ db }) => printReport(db, new Date(manifest.takenAt)));
        console.log('\nThe platform is held: start it to look at it. npm run operator -- release shows this again.');
      },
      { mayBeNew: true },
    ),
  );
}

export async function release(config: Config, { isSure }: { isSure: boolean }): Promise<void> {
  await withDatabaseUrl(config, (databaseUrl) =>
    withPool(databaseUrl, async ({ db, pg }) => {
      await requireOwnInstallation(pg, config);
      const { heldAt, restoredFrom } = await requireInstallation(pg);
      if (!heldAt || !restoredFrom) {
        console.log('This platform is not held.');
        return;
      }
      if (!isSure) {
        await printReport(db, restoredFrom);
        console.log('\nNothing has changed. To release it: npm run operator -- release --yes');
        return;
      }
      await releaseHeld(db);
      console.log('Released. Start all its processes again: it works from then on.');
    }),
  );
}

async function printReport(db: Db, restoredFrom: Date): Promise<void> {
  console.log(['', ...(await reportRestored(db, restoredFrom))].join('\n'));
}

async function newest(store: BlobStore, place: string): Promise<string> {
  const name = (await listBackups(store)).whole.at(-1);
  if (name) return name;
  throw new BackupRefused(`There is no whole backup in ${place}.`);
}

async function withPlace<T>(place: string, work: (store: BlobStore) => Promise<T>): Promise<T> {
  const store = await openPlace(place, process.env);
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

/** Open until the command ends. */
async function ownStores(config: Config): Promise<{ objects: BlobStore; files: BlobStore }> {
  const { blobs, files } = await openStores(config);
  return { objects: blobs.get(LOCAL_LOCATION)!, files };
}
