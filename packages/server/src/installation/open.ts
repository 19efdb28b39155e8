import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/configError.ts';
import { type Migrated, migrate } from '../db/migrate.ts';
import { findSecretKey, keyIdOf, loadSecretKey } from '../secrets/secretBox.ts';
import { requireSame } from './compare.ts';
import { hasCluster, isUsed, joinFolder, markFolder, readMark, readUnfinishedRestore } from './dataFolder.ts';
import {
  type Connection,
  hasPeople,
  type Installation,
  insertInstallation,
  isNew,
  readInstallation,
  requireInstallation,
  updateOrigins,
  updateVersion,
} from './row.ts';

export interface Opened {
  installation: Installation;
  /** With what the database knows better: the environment of the first start. */
  config: Config;
  migrations: readonly Migrated[];
}

/** A new embedded database would be made beside the data of another one. Throws `ConfigError`. */
export function refuseSecondDatabase(config: Config): void {
  if (config.databaseUrl || hasCluster(config) || !(readMark(config)?.isJoined || isUsed(config))) return;
  throw new ConfigError(
    'DATABASE_URL',
    `is missing, and the data in ${config.dataDir} belongs to a database elsewhere: set it to that one. ` +
      'To begin anew, name another STAGI_DATA',
  );
}

/**
 * Migrates the database of this platform and answers what all its processes share. Throws `ConfigError`, and changes
 * nothing, when this process is configured for another platform than the database belongs to, or the database is of a
 * newer version. The first start writes down what it is configured for.
 */
export async function openInstallation(databaseUrl: string, config: Config): Promise<Opened> {
  let installation: Installation | null = null;
  const migrations = await migrate(databaseUrl, {
    async before(client) {
      refuseUnfinishedRestore(config);
      installation = await readInstallation(client);
      if (installation) requireSame(installation, { mark: readMark(config), keyId: keyIdIn(config), settings: config });
      else await refuseNewBesideOld(client, config);
    },
    async after(client, applied) {
      if (!installation) installation = await recordInstallation(client, config);
      else await keepUpToDate(client, installation, config, applied.length > 0);
    },
  });
  joinFolder(config, installation!.dataFolder);
  return { installation: installation!, config: { ...config, environment: installation!.environment }, migrations };
}

/** For commands beside the platform, which migrate nothing. Throws `ConfigError` as `openInstallation` does. */
export async function requireOwnInstallation(client: Connection, config: Config): Promise<void> {
  refuseUnfinishedRestore(config);
  const stored = await requireInstallation(client);
  requireSame(stored, { mark: readMark(config), keyId: keyIdIn(config), settings: config });
}

function refuseUnfinishedRestore(config: Config): void {
  const backup = readUnfinishedRestore(config);
  if (backup === null) return;
  throw new ConfigError(
    'STAGI_DATA',
    `(${config.dataDir}) holds a part of the backup ${backup}, whose restore did not end: run the same ` +
      '`npm run operator -- restore …` again',
  );
}

function keyIdIn({ secretKey, dataDir }: Config): string | null {
  const key = findSecretKey(secretKey, dataDir);
  return key && keyIdOf(key);
}

/** The database has no id yet: a new one, or that of a version before 0.2.0. A new one beside an old folder is a mistake. */
async function refuseNewBesideOld(client: pg.Client, config: Config): Promise<void> {
  if ((await hasPeople(client)) && !isUsed(config))
    throw new ConfigError(
      'STAGI_DATA',
      `(${config.dataDir}) holds nothing, and the database has people: check STAGI_DATA and DATABASE_URL`,
    );
  if (readMark(config)?.isJoined || ((await isNew(client)) && isUsed(config)))
    throw new ConfigError(
      'DATABASE_URL',
      `leads to a database that does not know the data in ${config.dataDir}: set it to the one that does. ` +
        'To begin anew, name another STAGI_DATA',
    );
}

/** First the folder, then the database, then the folder again: a start that is killed between goes on from there. */
async function recordInstallation(client: pg.Client, config: Config): Promise<Installation> {
  const { environment, appOrigin, daemonOrigin } = config;
  const keyId = keyIdOf(loadSecretKey(config.secretKey, config.dataDir));
  await insertInstallation(client, { dataFolder: markFolder(config), environment, keyId, appOrigin, daemonOrigin });
  return (await readInstallation(client))!;
}

async function keepUpToDate(
  client: pg.Client,
  { appOrigin, daemonOrigin }: Installation,
  config: Config,
  isMigrated: boolean,
): Promise<void> {
  if (isMigrated) await updateVersion(client);
  if (appOrigin !== config.appOrigin || daemonOrigin !== config.daemonOrigin) await updateOrigins(client, config);
}
