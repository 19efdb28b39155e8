import type { ClientRelation } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import type { Authenticated } from '../auth/authenticate.ts';
import { grantStarterCredit, openAccounts } from '../billing/accounts.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused, unauthenticated } from '../http/errors.ts';
import { presentNew } from './present.ts';

/** Besides the personal one, and those that somebody was invited to. */
const MADE_MOST = 5;

/** The workspace every person gets: they own it, and the starter credit is booked there. */
export async function createPersonalWorkspace(
  ctx: Context,
  trx: Db,
  user: { id: number; name: string },
): Promise<number> {
  const id = await createOwned(trx, user.id, personalName(user.name), { isPersonal: true });
  await grantStarterCredit(ctx, trx, id, user.id);
  return id;
}

const NAME_MOST = 100;

/** What is too long of it is the person's name: a workspace called “…’s worksp” looks broken. */
function personalName(person: string): string {
  const words = '’s workspace';
  const room = NAME_MOST - words.length;
  // Not through the middle of a sign of two units.
  const name =
    person.length > room
      ? `${person
          .slice(0, room - 1)
          .replace(/[\ud800-\udbff]$/, '')
          .trimEnd()}…`
      : person;
  return name + words;
}

/** Another workspace of somebody's, with a balance of its own that starts at nothing. */
export async function createWorkspace(
  { db, user }: { db: Db; user: Authenticated['user'] },
  name: string,
): Promise<ClientRelation> {
  return inTransaction(db, async (trx) => {
    // One of two at once waits, and counts the other's.
    const maker = await trx
      .selectFrom('app_user')
      .select('id')
      .where('id', '=', user.id)
      .where('disabled_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    // They have deleted their account, or were shut out, while this waited.
    if (!maker) throw unauthenticated();
    const { count } = await trx
      .selectFrom('workspace')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('created_by', '=', user.id)
      .where('personal_of', 'is', null)
      .where('deleted_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (count >= MADE_MOST) throw refused('You can make at most {{limit}} workspaces', { limit: MADE_MOST });
    return presentNew({ id: await createOwned(trx, user.id, name, { isPersonal: false }), name }, user);
  });
}

async function createOwned(
  trx: Db,
  userId: number,
  name: string,
  { isPersonal }: { isPersonal: boolean },
): Promise<number> {
  const { id } = await trx
    .insertInto('workspace')
    .values({ name, created_by: userId, personal_of: isPersonal ? userId : null })
    .returning('id')
    .executeTakeFirstOrThrow();
  await trx.insertInto('membership').values({ workspace_id: id, user_id: userId, role: 'Owner' }).execute();
  await openAccounts(trx, id);
  return id;
}
