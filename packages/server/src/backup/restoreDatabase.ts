import { pipeline } from 'node:stream/promises';
import type { BlobStore } from '@stagi/s3/blobStore.ts';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { BackupRefused, type Manifest, readCompressed } from './archive.ts';

/** Numbers that were given out after the backup are not given again: machines and containers are known by them. */
const JUMP = 1_000_000;

/**
 * Fills the tables of an empty database, which has the migrations of the backup, in one transaction; `finish` is part of
 * it. Every number that is given out continues far behind that of the backup. Throws `BackupRefused`.
 */
export async function restoreDatabase(
  client: pg.Client,
  store: BlobStore,
  manifest: Manifest,
  finish: () => Promise<void>,
): Promise<void> {
  await client.query('begin');
  try {
    const broughtBack = await liftConstraints(client);
    await client.query(`truncate ${manifest.tables.map(({ table }) => quoted(table)).join(', ')}`);
    for (const partition of manifest.partitions) await makePartition(client, partition);
    for (const table of manifest.tables) await fillTable(client, store, table);
    for (const statement of broughtBack) await client.query(statement);
    for (const { name, last } of manifest.sequences)
      await client.query('select setval($1::regclass, $2)', [quoted(name), BigInt(last) + BigInt(JUMP)]);
    await forgetSince(client);
    await finish();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Brings in line with the rows what the world has seen since the backup. */
async function forgetSince(client: pg.Client): Promise<void> {
  // Daemons take no document and no link with a lower number than they had.
  await client.query(`update daemon_node set desired_gen = desired_gen + ${JUMP}, conn_epoch = conn_epoch + ${JUMP}`);
  // Those that were ended since would be good again, and those that go on hold newer tokens than the rows.
  await client.query(
    `update session set revoked_at = now(), revoked_reason = 'restored from a backup' where revoked_at is null`,
  );
  // They may have been sent after the backup.
  await client.query(
    `update mail set failed_at = now(), last_error = 'Not sent before the backup that this platform was restored from',
       content_sealed = null where sent_at is null`,
  );
}

/** Foreign keys, triggers and row-level security; answers the statements that bring them back. */
async function liftConstraints(client: pg.Client): Promise<string[]> {
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0`,
  );
  const { rows: tables } = await client.query<{ table: string; isSecured: boolean; isForced: boolean }>(
    `select oid::regclass::text as "table", relrowsecurity as "isSecured", relforcerowsecurity as "isForced"
     from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${quoted(name)}`);
  for (const { table } of tables)
    await client.query(
      `alter table ${table} disable trigger user, disable row level security, no force row level security`,
    );
  return [
    ...tables.map(({ table, isSecured, isForced }) =>
      [
        `alter table ${table} enable trigger user`,
        isSecured ? 'enable row level security' : '',
        isForced ? 'force row level security' : '',
      ]
        .filter(Boolean)
        .join(', '),
    ),
    ...keys.map(({ table, name, definition }) => `alter table ${table} add constraint ${quoted(name)} ${definition}`),
  ];
}

async function makePartition(
  client: pg.Client,
  { name, parent, bound }: Manifest['partitions'][number],
): Promise<void> {
  // It becomes part of a statement.
  if (!/^FOR VALUES FROM \('[^';]*'\) TO \('[^';]*'\)$/.test(bound))
    throw new BackupRefused(`The partition ${name} has a bound of an unknown form: ${bound}.`);
  await client.query(`create table if not exists ${quoted(name)} partition of ${quoted(parent)} ${bound}`);
}

async function fillTable(
  client: pg.Client,
  store: BlobStore,
  { table, columns, rows, part }: Manifest['tables'][number],
): Promise<void> {
  const into = client.query(copyFrom(`copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from stdin`));
  await pipeline(readCompressed(store, part), into);
  if (into.rowCount !== rows)
    throw new BackupRefused(`The backup holds ${into.rowCount} rows of ${table} instead of ${rows}.`);
}

function quoted(name: string): string {
  if (!/^[a-z0-9_]+$/.test(name)) throw new BackupRefused(`Not the name of a table or column: ${name}.`);
  return `"${name}"`;
}
