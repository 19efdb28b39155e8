import type { BlobStore } from '@stagi/s3/blobStore.ts';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { BackupRefused, type Manifest, partName, writeCompressed } from './archive.ts';

type Table = Manifest['tables'][number];

/** Facts about the place itself, and what the version that restores writes. */
const LEFT_OUT = ['migration', 'installation', 'unknown_bytes', 'quarantine_place'];

/**
 * Stores all rows of one moment: the connection is in a transaction of isolation level repeatable read. PostgreSQL's own
 * `pg_dump` is not there beside the embedded database, and the one of the system may be older than the server.
 */
export async function dumpDatabase(
  client: pg.Client,
  store: BlobStore,
  backup: string,
): Promise<Pick<Manifest, 'migrations' | 'tables' | 'partitions' | 'sequences'>> {
  await requireAllRows(client);
  const tables: Table[] = [];
  for (const { table, columns } of await tablesOf(client))
    tables.push(await dumpTable(client, store, { table, columns, backup }));
  const { rows: migrations } = await client.query<{ name: string }>('select name from migration order by name');
  const { rows: partitions } = await client.query<Manifest['partitions'][number]>(
    `select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`,
  );
  // Read last: they know nothing of transactions, and may only be ahead of the rows.
  const { rows: sequences } = await client.query<Manifest['sequences'][number]>(
    `select sequencename as name, coalesce(last_value, 0)::text as last from pg_sequences
     where schemaname = 'public' order by 1`,
  );
  return { migrations: migrations.map(({ name }) => name), tables, partitions, sequences };
}

/** The policy of the platform shows all rows to the user that started it last, unlike to others. */
async function requireAllRows(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ table: string }>(
    `select c.relname as "table" from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and row_security_active(c.oid)
       and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'of_platform'
         and p.polroles @> array[(select oid from pg_roles where rolname = current_user)])`,
  );
  if (rows.length === 0) return;
  throw new BackupRefused(
    `The user of DATABASE_URL does not see all rows of ${rows.map(({ table }) => table).join(', ')}: use the one that ` +
      'the platform starts with.',
  );
}

async function tablesOf(client: pg.Client): Promise<{ table: string; columns: string[] }[]> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `select c.relname as "table", array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and not c.relname = any($1)
     group by c.relname order by c.relname`,
    [LEFT_OUT],
  );
  return rows;
}

async function dumpTable(
  client: pg.Client,
  store: BlobStore,
  { table, columns, backup }: { table: string; columns: string[]; backup: string },
): Promise<Table> {
  const list = columns.map((name) => `"${name}"`).join(', ');
  // A query, as a table with partitions cannot be copied by its name.
  const rows = client.query(copyTo(`copy (select ${list} from "${table}") to stdout`));
  const part = await writeCompressed(store, partName(backup, 'tables', table), rows);
  return { table, columns, rows: rows.rowCount, part };
}
