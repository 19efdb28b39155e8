import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/configError.ts';
import { VERSION } from '../config/version.ts';
import { hasTable } from '../db/hasTable.ts';

/** The row of table `installation`, as every process of this platform must be configured. */
export interface Installation {
  /** Marks what is ours at clouds and in other S3 services; never changes. */
  id: string;
  /** The id in the data folder. */
  dataFolder: string;
  /** Marks our machines at clouds. */
  environment: string;
  /** Names the key that secrets are sealed with; tells nothing about it. */
  keyId: string;
  appOrigin: string;
  daemonOrigin: string | null;
  /** The version that migrated the database last. */
  version: string;
  /** The moment of the backup that it was restored from; null: it never was. */
  restoredFrom: Date | null;
  /** Not null: it was restored and does nothing by itself until an operator releases it. */
  heldAt: Date | null;
}

export type Connection = Pick<pg.Client, 'query'>;

interface Row {
  id: string;
  data_folder: string;
  environment: string;
  key_id: string;
  app_origin: string;
  daemon_origin: string | null;
  version: string;
  /** Undefined in a database that is migrated next. */
  restored_from?: Date | null;
  held_at?: Date | null;
}

/** Null: a database of before the table, or a new one. */
export async function readInstallation(client: Connection): Promise<Installation | null> {
  if (!(await hasTable(client, 'installation'))) return null;
  const { rows } = await client.query<Row>('select * from installation');
  const [row] = rows;
  if (!row) return null;
  return {
    id: row.id,
    dataFolder: row.data_folder,
    environment: row.environment,
    keyId: row.key_id,
    appOrigin: row.app_origin,
    daemonOrigin: row.daemon_origin,
    version: row.version,
    restoredFrom: row.restored_from ?? null,
    heldAt: row.held_at ?? null,
  };
}

/** Throws when no version that knows the table has started on the database. */
export async function requireInstallation(client: Connection): Promise<Installation> {
  const found = await readInstallation(client);
  if (found) return found;
  throw new ConfigError('DATABASE_URL', 'leads to a database that is not ready: start the platform once before');
}

export async function insertInstallation(
  client: Connection,
  row: Omit<Installation, 'id' | 'version' | 'restoredFrom' | 'heldAt'>,
): Promise<void> {
  await client.query(
    `insert into installation (data_folder, environment, key_id, app_origin, daemon_origin, version)
     values ($1, $2, $3, $4, $5, $6)`,
    [row.dataFolder, row.environment, row.keyId, row.appOrigin, row.daemonOrigin, VERSION],
  );
}

/** The platform of a backup in a new place, held; `restoredFrom` is the moment of the backup. */
export async function insertRestored(
  client: Connection,
  row: Omit<Installation, 'heldAt'> & { restoredFrom: Date },
): Promise<void> {
  await client.query(
    `insert into installation (id, data_folder, environment, key_id, app_origin, daemon_origin, version, restored_from, held_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now())`,
    [
      row.id,
      row.dataFolder,
      row.environment,
      row.keyId,
      row.appOrigin,
      row.daemonOrigin,
      row.version,
      row.restoredFrom.toISOString(),
    ],
  );
}

export async function updateOrigins(
  client: Connection,
  { appOrigin, daemonOrigin }: Pick<Config, 'appOrigin' | 'daemonOrigin'>,
): Promise<void> {
  await client.query('update installation set app_origin = $1, daemon_origin = $2', [appOrigin, daemonOrigin]);
}

export async function updateVersion(client: Connection): Promise<void> {
  await client.query('update installation set version = $1', [VERSION]);
}

/** True for a database that no version has migrated. */
export const isNew = async (client: Connection): Promise<boolean> => !(await hasTable(client, 'migration'));

export async function hasPeople(client: Connection): Promise<boolean> {
  if (!(await hasTable(client, 'app_user'))) return false;
  const { rows } = await client.query('select from app_user limit 1');
  return rows.length > 0;
}
