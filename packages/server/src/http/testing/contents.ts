import pg from 'pg';

/** What a refused call may change, and why. */
const MAY_CHANGE: Record<string, string> = {
  audit: 'a refusal is written down in the log of the workspace that was asked',
  audit_head: 'the end of that log',
  audit_actor: 'who is named in that log',
  idempotency: 'a verdict on a form is kept for its key, under the person who asked',
};
/** Columns that only note a use. */
const NOTES = ['last_used_at', 'last_used_ip'];

/** A hash over each table, so that what changed can be named. */
export type Contents = Map<string, string>;

/** Hashes every row of every table, and every job that waits. */
export async function contentsOf(databaseUrl: string): Promise<Contents> {
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
    const { rows } = await client.query<{ name: string; hash: string }>(parts.join(' union all '), [NOTES]);
    return new Map(rows.map(({ name, hash }) => [name, hash]));
  } finally {
    await client.end();
  }
}

/** The tables that are not as they were. */
export function changedTables(before: Contents, after: Contents): string[] {
  return [...after].filter(([table, hash]) => before.get(table) !== hash).map(([table]) => table);
}
