import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { every } from '../every.ts';
import { alone } from './alone.ts';
import { build } from './build.ts';
import { isDue, type LongList, longLists } from './due.ts';
import { follow, STEP } from './follow.ts';
import { ordersOf } from './lists.ts';

const FOLLOW_MS = 10_000;
const LOOK_MS = 3_600_000;
/** After a look that failed, or while somebody else is at it. */
const AGAIN_MS = 60_000;

/** Tests set others. */
interface Lengths {
  /** A shorter list is gone along sooner than anything could tell what to skip. */
  least: number;
  /** So many a list is parted into. */
  blocks: number;
}
const LENGTHS: Lengths = { least: 50_000, blocks: 1_000 };

type Keeper = Pick<Context, 'db' | 'log'>;

/** Keeps the indexes of long lists. Any number of these may run on one database. */
export function startKeepingSkipIndexes(ctx: Context): { stop(): Promise<void> } {
  let lookAt = 0;
  return every(ctx, FOLLOW_MS, 'keeping the indexes of long lists', async () => {
    await followNews(ctx.db);
    if (performance.now() < lookAt) return;
    lookAt = performance.now() + AGAIN_MS;
    if (await buildDue(ctx)) lookAt = performance.now() + LOOK_MS;
  });
}

/** Until nothing has come, or somebody else is at it. */
export async function followNews(db: Db): Promise<void> {
  for (let followed = STEP; followed === STEP; ) followed = (await alone(db, follow)) ?? 0;
}

/** Builds what is missing or worn out and drops what nobody needs any more. False where somebody else is at it. */
export async function buildDue({ db, log }: Keeper, { least, blocks } = LENGTHS): Promise<boolean> {
  // One that has an index keeps it, when it is about as long as it has to be.
  const long = await longLists(db, least / 2);
  if (!(await alone(db, (trx) => dropOthers(trx, long)))) return false;
  for (const list of long)
    for (const sortedBy of Object.keys(ordersOf(list))) {
      if (list.rows < least || !(await isDue(db, list, sortedBy))) continue;
      const began = performance.now();
      const rows = await alone(db, (trx) => build(trx, list, sortedBy, Math.ceil(list.rows / blocks)));
      if (rows === null) return false;
      log.info(
        { ...list, sortedBy, rows, ms: Math.round(performance.now() - began) },
        'built the index of a long list',
      );
    }
  return true;
}

async function dropOthers(trx: Db, long: readonly LongList[]): Promise<true> {
  await sql`
    delete from skip_index where (of_table, workspace_id) not in (
      select * from unnest(${long.map(({ table }) => table)}::text[], ${long.map(({ workspaceId }) => workspaceId)}::int[]))`.execute(
    trx,
  );
  return true;
}
