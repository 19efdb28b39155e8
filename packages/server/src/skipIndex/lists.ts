import { type RawBuilder, sql } from 'kysely';

/** The lists of millions that a text is looked for in: what their rows are known by, and what they are sorted by. */
export const LISTS = {
  app_user: { id: 'id', orders: { created_at: 'timestamptz', name: 'text', email: 'text' } },
  workspace: { id: 'id', orders: { created_at: 'timestamptz', name: 'text' } },
  membership: { id: 'user_id', orders: { created_at: 'timestamptz', name: 'text', email: 'text' } },
} as const satisfies Record<string, { id: string; orders: Record<string, 'text' | 'timestamptz'> }>;

/** All rows of a table, or the members of one workspace. */
export interface List {
  table: keyof typeof LISTS;
  workspaceId: number;
}

/** Of a list of all there are. */
export const OF_ALL = 0;

export const listOf = (table: List['table'], workspaceId = OF_ALL): List => ({ table, workspaceId });

/** A list is sorted by other things as well, of which nothing tells what to skip. */
export const ordersOf = ({ table }: List): Record<string, string> => LISTS[table].orders;

/** For what follows a `from`. */
export const rowsOf = ({ table, workspaceId }: List): RawBuilder<unknown> =>
  sql`${sql.table(table)} where ${workspaceId === OF_ALL ? sql`true` : sql`workspace_id = ${workspaceId}`}`;

/** Where the blocks of an index begin, once for all rows of a statement. `index`: the one row that holds it. */
export const edgesOf = (index: RawBuilder<unknown>, list: List, sortedBy: string): RawBuilder<unknown> =>
  sql`array(select unnest(lows)::${sql.raw(ordersOf(list)[sortedBy]!)} from ${index})`;
