import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Db } from '../../db/schema.ts';

/** Columns that may still refer to a deleted user: who created or did something. */
export const KEPT = [
  'audit.actor_id',
  'audit_actor.user_id',
  'container.created_by',
  'instance.created_by',
  'instance_activity.actor_id',
  'workspace.created_by',
];

/** Columns with a foreign key to users that still refer to this one. */
export async function pointersTo(db: Db, userId: number): Promise<string[]> {
  const { rows } = await sql<{ table: string; column: string; goesAlong: boolean }>`
    select held.relname as "table", att.attname as "column", con.confdeltype = 'c' as "goesAlong" from pg_constraint con
      join pg_class held on held.oid = con.conrelid
      join pg_attribute att on att.attrelid = con.conrelid and att.attnum = con.conkey[1]
    where con.contype = 'f' and con.confrelid = 'app_user'::regclass order by 1, 2`.execute(db);
  expect(rows.length).toBeGreaterThan(KEPT.length);
  // A table with rows of a user's own declares `on delete cascade`.
  const others = rows.filter(({ column, goesAlong }) => column === 'user_id' && !goesAlong);
  expect(others.map(({ table }) => table)).toEqual(['audit_actor']);
  const found: string[] = [];
  for (const { table, column } of rows) {
    const { rows: hits } =
      await sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${userId} limit 1`.execute(db);
    if (hits.length > 0) found.push(`${table}.${column}`);
  }
  return found;
}

/** Tables with a row that, as JSON, contains one of these words. */
export async function tablesWith(db: Db, words: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`.execute(
    db,
  );
  expect(rows.length).toBeGreaterThan(30);
  const found: string[] = [];
  for (const { name } of rows) {
    const { rows: hits } = await sql`select 1 from ${sql.table(name)} t
      where lower(to_jsonb(t)::text) like any(${words.map((word) => `%${word.toLowerCase()}%`)}::text[]) limit 1`.execute(
      db,
    );
    if (hits.length > 0) found.push(name);
  }
  return found;
}
