import type { StarterRefusal } from '@stagi/contract/billing.ts';
import { asMicro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { networkOf } from '../http/network.ts';
import { accountOf, addressMark, isFormerAddress } from './accounts.ts';
import { post } from './ledger.ts';

/** Credits that those of one network (IPv6: /64) get on a day of UTC. */
const NETWORK_DAILY = 20;

type Ctx = Context & { ip: string };

/**
 * Once per mailbox, while nothing but machines of one's own can be paid with it. Who had an account under this address
 * before is that person still. Why somebody gets none is noted at the workspace.
 */
export async function grantStarterCredit(ctx: Ctx, trx: Db, workspaceId: number, userId: number): Promise<void> {
  const onlyOwnMachines = [...ctx.providers.values()].every(({ name, simulated }) => name === 'local' || simulated);
  const amount = asMicro(onlyOwnMachines ? ctx.config.starterCredit : 0n);
  if (amount === 0n) return;
  const refusal = await refusalOf(ctx, trx, userId);
  if (refusal) {
    await trx.updateTable('workspace').set({ starter_refused: refusal }).where('id', '=', workspaceId).execute();
    return;
  }
  await post(trx, 'starter', `starter:${userId}`, workspaceId, [
    { account: 'promo', amount: asMicro(-amount) },
    { account: accountOf(workspaceId, 'credit'), amount },
  ]);
}

/** Takes the mailbox's only credit and one of the network's, both until the transaction ends. */
async function refusalOf(ctx: Ctx, trx: Db, userId: number): Promise<StarterRefusal | null> {
  const { email, mailbox, had } = await mailboxOf(trx, userId);
  if (had || (await isFormerAddress(ctx, trx, email))) return 'mailbox';
  const hash = markOf(ctx, mailbox);
  // A second sign-up at the same moment waits here for the first.
  if (!(await takeMailbox(trx, hash))) return 'mailbox';
  if (isLoopbackAddress(ctx.ip) || (await takeOfNetwork(ctx, trx))) return null;
  await trx.deleteFrom('starter_mailbox').where('hash', '=', hash).execute();
  return 'network';
}

/** `had`: another account of the mailbox got the credit, perhaps before mailboxes were noted. */
async function mailboxOf(trx: Db, userId: number) {
  const { rows } = await sql<{ email: string; mailbox: string; had: boolean }>`
    select email, mailbox_of(email) as mailbox, exists (select from app_user other
        join journal on journal.idem_key = 'starter:' || other.id
        where mailbox_of(other.email) = mailbox_of(me.email) and other.id <> me.id) as had
    from app_user me where id = ${userId}`.execute(trx);
  return rows[0]!;
}

async function takeMailbox(trx: Db, hash: Buffer): Promise<boolean> {
  const taken = await trx
    .insertInto('starter_mailbox')
    .values({ hash })
    .onConflict((conflict) => conflict.doNothing())
    .returning('hash')
    .executeTakeFirst();
  return taken !== undefined;
}

async function takeOfNetwork({ ip, secrets }: Ctx, trx: Db): Promise<boolean> {
  const hash = secrets.keyedHash(networkOf(ip), 'starter_network|hash');
  const { rows } = await sql`insert into starter_network as counted (hash, day)
    values (${hash}, (clock_timestamp() at time zone 'UTC')::date)
    on conflict (hash, day) do update set given = counted.given + 1 where counted.given < ${NETWORK_DAILY}
    returning given`.execute(trx);
  return rows.length > 0;
}

/** Remembers, unreadably, that somebody had an account under an address that they give up. */
export async function rememberAddress(ctx: Pick<Context, 'secrets'>, trx: Db, email: string): Promise<void> {
  await trx
    .insertInto('former_address')
    .values({ hash: addressMark(ctx, email) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { rows } = await sql<{ mailbox: string }>`select mailbox_of(${email}) as mailbox`.execute(trx);
  await takeMailbox(trx, markOf(ctx, rows[0]!.mailbox));
}

const markOf = ({ secrets }: Pick<Context, 'secrets'>, mailbox: string): Buffer =>
  secrets.keyedHash(mailbox, 'starter_mailbox|hash');

/** All who sign up on the machine itself share one address. */
function isLoopbackAddress(ip: string): boolean {
  return ip === '::1' || networkOf(ip).startsWith('127.');
}
