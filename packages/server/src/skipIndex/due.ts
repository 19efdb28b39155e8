import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { LISTS, type List, OF_ALL, ordersOf, rowsOf } from './lists.ts';

export interface LongList extends List {
  /** About so many. */
  rows: number;
}

/** So many memberships tell which workspaces have many. */
const SAMPLED = 100_000;

/** The lists of at least about so many rows, as the database has last counted or a sample of it tells. */
export async function longLists(db: Db, least: number): Promise<LongList[]> {
  const { rows } = await sql<LongList>`
    with counted as (
      select relname::text as "table", reltuples from pg_class
      where oid = any(${Object.keys(LISTS)}::text[]::regclass[])),
    sampled as (select least(1, ${SAMPLED} / greatest(1, reltuples)) as share from counted where "table" = 'membership')
    select "table", ${OF_ALL}::int as "workspaceId", reltuples::int as rows from counted where "table" <> 'membership' and reltuples >= ${least}
    union all
    select 'membership', workspace_id, (count(*) / (select share from sampled))::int
    from membership tablesample system (100 * (select share from sampled))
    group by workspace_id having count(*) >= ${least} * (select share from sampled)`.execute(db);
  return rows;
}

/** Whether an order's index is missing, knows too little of what is there now, or something that is there no more. */
export async function isDue(db: Db, list: List, sortedBy: string): Promise<boolean> {
  const place = sql.ref(sortedBy);
  const { rows } = await sql<{ is_sound: boolean }>`
    select changes <= row_count / 2 and not exists (
      select from unnest(lows::${sql.raw(ordersOf(list)[sortedBy]!)}[]) as low
      where not exists (select from ${rowsOf(list)} and ${place} = low)) as is_sound
    from skip_index
    where of_table = ${list.table} and workspace_id = ${list.workspaceId} and sorted_by = ${sortedBy}`.execute(db);
  return !rows[0]?.is_sound;
}
