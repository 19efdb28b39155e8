import pg from 'pg';

/** Tables that a refused call may change, and why. */
const MAY_CHANGE: Record<string, string> = {
  audit: 'a refusal is written down in the log of the workspace that was asked',
  audit_head: 'the end of that log',
  audit_actor: 'who is named in that log',
  idempotency: 'a verdict on a form is kept for its key, under the person who asked',
};
/** Columns that only record the last use. */
const USAGE_COLUMNS = ['last_used_at', 'last_used_ip'];

/** A hash of each table. */
export type TableHashes = Map<string, string>;

/** Hashes all tables, and the queued jobs. */
export async function hashTables(databaseUrl: string): Promise<TableHashes> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ schema: string; name: string }>(`
      select table_schema as schema, table_name as name from information_schema.tables
      where table_type = 'BASE TABLE' and (table_schema = 'public' or (table_schema = 'pgboss' and table_name = 'job'))`);
    const parts = tables
      .filter(({ schema, name }) => schema !== 'public' || !(name in MAY_CHANGE))
      .map(
        ({ schema, name }) =>
          `select ${client.escapeLiteral(`${schema}.${name}`)} as name,
            md5(coalesce(string_agg(row, '' order by row), '')) as hash
          from (select md5((to_jsonb(t) - $1::text[])::text) as row
            from ${client.escapeIdentifier(schema)}.${client.escapeIdentifier(name)} t) rows`,
      );
    const { rows } = await client.query<{ name: string; hash: string }>(parts.join(' union all '), [USAGE_COLUMNS]);
    return new Map(rows.map(({ name, hash }) => [name, hash]));
  } finally {
    await client.end();
  }
}

export function changedTables(before: TableHashes, after: TableHashes): string[] {
  return [...after].filter(([table, hash]) => before.get(table) !== hash).map(([table]) => table);
}
