import { text } from '@stagi/contract/text.ts';
import type { ClientRelation } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import { openAccounts } from '../billing/accounts.ts';
import { grantStarterCredit } from '../billing/starterCredit.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused, unauthenticated } from '../http/errors.ts';
import { presentNewRelation } from '../memberships/relation.ts';
import type { Authenticated } from '../sessions/authenticate.ts';

/** Workspaces that one user may create, besides the personal one. */
const MAX_WORKSPACES = 5;

/** The workspace that every new user gets: they own it, and it gets the starter credit, once for each mailbox. */
export async function createPersonalWorkspace(
  ctx: Context & { ip: string },
  trx: Db,
  user: { id: number; name: string },
): Promise<number> {
  const id = await createOwned(ctx, trx, { userId: user.id, name: personalName(user.name), isPersonal: true });
  await grantStarterCredit(ctx, trx, id, user.id);
  return id;
}

const NAME_MOST = 100;

/** If it is too long, the person's name is cut, not the suffix. */
function personalName(person: string): string {
  const words = '’s workspace';
  const room = NAME_MOST - words.length;
  // Does not cut a surrogate pair in half.
  const name =
    person.length > room
      ? `${person
          .slice(0, room - 1)
          .replace(/[\ud800-\udbff]$/, '')
          .trimEnd()}…`
      : person;
  return name + words;
}

/** Creates another workspace, with a balance of its own of 0. */
export async function createWorkspace(
  ctx: Pick<Context, 'config'> & { db: Db; user: Authenticated['user'] },
  name: string,
): Promise<ClientRelation> {
  const { db, user } = ctx;
  return inTransaction(db, async (trx) => {
    // Locked, so that two requests at once are counted one after the other.
    const maker = await trx
      .selectFrom('app_user')
      .select('id')
      .where('id', '=', user.id)
      .where('disabled_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    // The account was deleted or disabled while this waited for the lock.
    if (!maker) throw unauthenticated();
    const { count } = await trx
      .selectFrom('workspace')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('created_by', '=', user.id)
      .where('personal_of', 'is', null)
      .where('deleted_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (count >= MAX_WORKSPACES)
      throw refused(text('You can create at most {{limit}} workspaces'), { limit: MAX_WORKSPACES });
    const id = await createOwned(ctx, trx, { userId: user.id, name, isPersonal: false });
    return presentNewRelation({ id, name, plan: ctx.config.defaultPlan }, user);
  });
}

async function createOwned(
  { config }: Pick<Context, 'config'>,
  trx: Db,
  { userId, name, isPersonal }: { userId: number; name: string; isPersonal: boolean },
): Promise<number> {
  const { id } = await trx
    .insertInto('workspace')
    .values({ name, plan: config.defaultPlan, created_by: userId, personal_of: isPersonal ? userId : null })
    .returning('id')
    .executeTakeFirstOrThrow();
  await trx.insertInto('membership').values({ workspace_id: id, user_id: userId, role: 'Owner' }).execute();
  await openAccounts(trx, id);
  return id;
}
