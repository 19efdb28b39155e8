import type pg from 'pg';

export async function hasTable(client: Pick<pg.Client, 'query'>, name: string): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [name]);
  return rows[0]!.exists;
}
