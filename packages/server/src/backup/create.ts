import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BlobMissing, type BlobStore } from '@stagi/s3/blobStore.ts';
import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { LOCAL_LOCATION } from '../config/objectStorage.ts';
import { VERSION } from '../config/version.ts';
import { takeBackupLock } from '../db/backupLock.ts';
import { HOST_KEY_FILE } from '../installation/dataFolder.ts';
import { requireInstallation } from '../installation/row.ts';
import { inParallel } from '../loops/inParallel.ts';
import type { SecretBox } from '../secrets/secretBox.ts';
import {
  BackupRefused,
  listBackups,
  type Manifest,
  nameOfBackup,
  type Part,
  partName,
  readManifest,
  removeBackup,
  writeManifest,
  writePart,
} from './archive.ts';
import { knownBlobs, writeBlobList } from './blobList.ts';
import { bundleRepository } from './bundle.ts';
import { dumpDatabase } from './dumpDatabase.ts';
import { openPlainSession } from './plainSession.ts';
import { removeOldBackups } from './removeOld.ts';

export interface Sources {
  config: Pick<Config, 'dataDir' | 'repositoriesDir'>;
  databaseUrl: string;
  secrets: SecretBox;
  /** The platform's own stores. */
  objects: BlobStore;
  files: BlobStore;
}

export interface Created {
  name: string;
  manifest: Manifest;
  /** Objects and files that no earlier backup had stored. */
  copied: { count: number; bytes: number };
  /** Names of backups that were removed as they were too many. */
  removed: string[];
}

const PARALLEL = 4;
export const HOST_KEY_PLACE = 'backup|git-ssh-host-key';

/**
 * Makes a backup of all that lies on this machine: first the database, then what its rows name. The platform may run.
 * With `keep`, only so many backups stay, this one included. Throws `BackupRefused`.
 */
export async function createBackup(
  sources: Sources,
  store: BlobStore,
  { keep = Number.POSITIVE_INFINITY }: { keep?: number } = {},
): Promise<Created> {
  const client = await openPlainSession(sources.databaseUrl, 'stagi-backup');
  try {
    const installation = await requireInstallation(client);
    if (!(await takeBackupLock(client))) throw new BackupRefused('Another backup of this platform runs.');
    const { whole, broken } = await listBackups(store);
    const last = whole.at(-1);
    if (last && (await readManifest(store, last)).installation.id !== installation.id)
      throw new BackupRefused('The backups there are of another platform: name a place of its own.');
    for (const unfinished of broken) await removeBackup(store, unfinished);
    const created = await copyEverything(sources, client, store);
    await requireLockHeld(client);
    await writeManifest(store, created.name, created.manifest);
    return { ...created, removed: await removeOldBackups(store, keep) };
  } finally {
    await client.end();
  }
}

/** Without it bytes may have been removed meanwhile. */
async function requireLockHeld(client: pg.Client): Promise<void> {
  try {
    await client.query('select');
  } catch (cause) {
    throw new BackupRefused('The connection to the database was lost meanwhile: run it again.', { cause });
  }
}

async function copyEverything(
  sources: Sources,
  client: pg.Client,
  store: BlobStore,
): Promise<Omit<Created, 'removed'>> {
  await client.query('begin isolation level repeatable read read only');
  const { rows } = await client.query<{ now: Date }>('select now()');
  const takenAt = rows[0]!.now;
  const name = nameOfBackup(takenAt);
  const { id, environment, keyId, appOrigin, daemonOrigin } = await requireInstallation(client);
  const database = await dumpDatabase(client, store, name);
  const named = await namedByRows(client);
  await client.query('commit');
  const absent: string[] = [];
  const repositories = [];
  for (const uuid of named.repositories) {
    const found = await bundleRepository(sources.config, uuid, store, partName(name, 'repositories', uuid));
    if (found) repositories.push(found);
    else absent.push(`repositories/${uuid}`);
  }
  const { parts, copied } = await copyBlobs(sources, store, named.blobs, absent);
  const manifest: Manifest = {
    format: 1,
    version: VERSION,
    takenAt: takenAt.toISOString(),
    installation: { id, environment, keyId, appOrigin, daemonOrigin },
    ...database,
    repositories,
    blobs: await writeBlobList(store, name, parts),
    absent,
    elsewhere: named.elsewhere,
    hostKey: await sealedHostKey(sources),
  };
  return { name, manifest, copied };
}

/** Read in the transaction of the dump, so that nothing of it is missing. */
async function namedByRows(client: pg.Client) {
  const column = async (sql: string, values: unknown[] = []): Promise<string[]> =>
    (await client.query<{ value: string }>(sql, values)).rows.map(({ value }) => value);
  const objects = await column(
    `select 'objects/' || id as value from s3_blob where state = 'stored' and location = $1 order by id`,
    [LOCAL_LOCATION],
  );
  const files = await column(`select 'files/' || id as value from stored_file where state = 'stored' order by id`);
  return {
    blobs: [...objects, ...files],
    elsewhere: await column('select distinct location as value from s3_blob where location <> $1', [LOCAL_LOCATION]),
    repositories: await column('select repository as value from project where closed_at is null order by 1'),
  };
}

/** Bytes never change: those that an earlier backup has stored are not copied again. */
async function copyBlobs(
  { objects, files }: Sources,
  store: BlobStore,
  wanted: readonly string[],
  absent: string[],
): Promise<{ parts: Part[]; copied: Created['copied'] }> {
  const known = await knownBlobs(store);
  const parts: Part[] = [];
  const copied = { count: 0, bytes: 0 };
  await inParallel(PARALLEL, wanted, async (blob) => {
    const before = known.get(blob);
    const part = before ?? (await copyBlob(blob.startsWith('files/') ? files : objects, store, blob));
    if (!part) {
      absent.push(blob);
      return;
    }
    parts.push(part);
    if (before) return;
    copied.count += 1;
    copied.bytes += part.bytes;
  });
  return { parts, copied };
}

async function copyBlob(from: BlobStore, store: BlobStore, blob: string): Promise<Part | null> {
  try {
    return await writePart(store, blob, await from.get(blob));
  } catch (error) {
    if (error instanceof BlobMissing) return null;
    throw error;
  }
}

/** By it clients know the platform; whoever has it can pretend to be it. */
async function sealedHostKey({ config, secrets }: Sources): Promise<string | null> {
  try {
    return secrets.seal(await readFile(join(config.dataDir, HOST_KEY_FILE), 'utf8'), HOST_KEY_PLACE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
