import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BlobMissing, type BlobStore } from '@stagi/s3/blobStore.ts';
import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { VERSION } from '../config/version.ts';
import { applyMigrations, migrate } from '../db/migrate.ts';
import {
  HOST_KEY_FILE,
  hasBytes,
  joinFolder,
  markFolder,
  markUnfinishedRestore,
  readMark,
  readUnfinishedRestore,
  removeUnfinishedRestore,
} from '../installation/dataFolder.ts';
import { insertRestored, isNew, readInstallation } from '../installation/row.ts';
import { inParallel } from '../loops/inParallel.ts';
import { createSecretBox, findSecretKey, keyIdOf } from '../secrets/secretBox.ts';
import { BackupRefused, type Manifest, type Part, readManifest, readPart } from './archive.ts';
import { readBlobList } from './blobList.ts';
import { unbundleRepository } from './bundle.ts';
import { HOST_KEY_PLACE } from './create.ts';
import { openPlainSession } from './plainSession.ts';
import { restoreDatabase } from './restoreDatabase.ts';

export interface Target {
  config: Config;
  databaseUrl: string;
  /** The platform's own stores. */
  objects: BlobStore;
  files: BlobStore;
}

export interface Restored {
  manifest: Manifest;
  /** A sentence for each object, file and repository that the backup has lost. */
  lost: string[];
}

const PARALLEL = 4;

/**
 * Fills an empty database and data folder from a backup. The platform is held afterwards. Bytes come first and the
 * database last; one that was broken off is run again. Throws `BackupRefused`, and `NewerDatabase` for a backup that a
 * newer version made.
 */
export async function restoreBackup(target: Target, store: BlobStore, backup: string): Promise<Restored> {
  const { config, databaseUrl } = target;
  const manifest = await readManifest(store, backup);
  const key = requireKey(config, manifest);
  const client = await openPlainSession(databaseUrl, 'stagi-restore');
  try {
    if ((await requireEmpty(client, config, backup)) === 'restored') return finish(target, { manifest, lost: [] });
    markUnfinishedRestore(config, backup);
    const lost = [
      ...(await restoreBlobs(target, store, manifest)),
      ...(await restoreRepositories(config, store, manifest)),
    ];
    if (manifest.hostKey) writeHostKey(config, createSecretBox(key).open(manifest.hostKey, HOST_KEY_PLACE));
    await applyMigrations(databaseUrl, manifest.migrations);
    const dataFolder = markFolder(config);
    await restoreDatabase(client, store, manifest, () =>
      insertRestored(client, {
        ...manifest.installation,
        dataFolder,
        appOrigin: config.appOrigin,
        daemonOrigin: config.daemonOrigin,
        version: VERSION,
        restoredFrom: new Date(manifest.takenAt),
      }),
    );
    return await finish(target, { manifest, lost });
  } finally {
    await client.end();
  }
}

async function finish({ config, databaseUrl }: Target, restored: Restored): Promise<Restored> {
  joinFolder(config, readMark(config)!.id);
  await migrate(databaseUrl);
  removeUnfinishedRestore(config);
  return restored;
}

function requireKey({ secretKey, dataDir }: Config, { installation: { keyId } }: Manifest): Buffer {
  const key = findSecretKey(secretKey, dataDir);
  if (key && keyIdOf(key) === keyId) return key;
  throw new BackupRefused(
    `The secrets in the backup are sealed with key ${keyId}, and ` +
      (key ? `this place has key ${keyIdOf(key)}. ` : 'this place has no key. ') +
      `Set STAGI_SECRET_KEY to the key of the former platform, or put its secret.key into ${dataDir}.`,
  );
}

/** `restored`: a former run was broken off after its last transaction. */
async function requireEmpty(client: pg.Client, config: Config, backup: string): Promise<'empty' | 'restored'> {
  const unfinished = readUnfinishedRestore(config);
  if (unfinished !== null && unfinished !== backup)
    throw new BackupRefused(`${config.dataDir} holds a part of another backup, ${unfinished}: empty it first.`);
  const found = await readInstallation(client);
  if (unfinished !== null && found && found.dataFolder === readMark(config)?.id) return 'restored';
  if (found || (unfinished === null && !(await isNew(client))))
    throw new BackupRefused('The database is not empty: a backup is restored into an empty one alone.');
  if (unfinished === null && hasBytes(config))
    throw new BackupRefused(`${config.dataDir} holds data already: a backup is restored into an empty folder alone.`);
  return 'empty';
}

/** Those that a former run has restored are not copied again. */
async function restoreBlobs({ objects, files }: Target, store: BlobStore, manifest: Manifest): Promise<string[]> {
  const lost: string[] = [];
  await inParallel(PARALLEL, readBlobList(store, manifest), async (part) => {
    const target = part.name.startsWith('files/') ? files : objects;
    if ((await target.head(part.name))?.size === part.bytes) return;
    lost.push(...(await lossOf(part, () => target.put(part.name, readPart(store, part)))));
  });
  return lost;
}

async function restoreRepositories(
  config: Pick<Config, 'repositoriesDir'>,
  store: BlobStore,
  { repositories }: Manifest,
): Promise<string[]> {
  const lost: string[] = [];
  await inParallel(PARALLEL, repositories, async (repository) => {
    const restore = () => unbundleRepository(config, repository, store);
    if (repository.part) lost.push(...(await lossOf(repository.part, restore)));
    else await restore();
  });
  return lost;
}

/** All else is worth more than waiting for a part that the backup does not have any more. */
async function lossOf({ name }: Part, restore: () => Promise<unknown>): Promise<string[]> {
  try {
    await restore();
    return [];
  } catch (error) {
    if (error instanceof BlobMissing) return [`${name} is missing.`];
    if (error instanceof BackupRefused) return [error.message];
    throw error;
  }
}

function writeHostKey({ dataDir }: Pick<Config, 'dataDir'>, key: string): void {
  writeFileSync(join(dataDir, HOST_KEY_FILE), key, { mode: 0o600, flush: true });
}
