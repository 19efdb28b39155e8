import { CURRENCY } from '@stagi/contract/brand.ts';
import { asMicro } from '@stagi/contract/money.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { post } from './ledger.ts';

/** The accounts of a workspace that can be spent, in the order they are spent in. */
export const SPENDABLE = ['credit', 'card', 'onchain'] as const;
const OF_A_WORKSPACE = [...SPENDABLE, 'held'] as const;
/** Where use is booked to: several, so that workspaces do not wait for one row. */
const USAGE_SHARDS = 16;
const SYSTEM = [
  'world:deposit',
  'world:payout',
  'promo',
  'writeoff',
  'revenue:plan',
  ...Array.from({ length: USAGE_SHARDS }, (_, shard) => revenueOf(shard)),
];

/** The account for the use of a workspace, or of whatever else has this number. */
export function revenueOf(id: number): string {
  return `revenue:usage:${id % USAGE_SHARDS}`;
}

export async function openSystemAccounts(db: Db): Promise<void> {
  await db
    .insertInto('account')
    .values(SYSTEM.map((code) => ({ code, currency: CURRENCY })))
    .onConflict((conflict) => conflict.column('code').doNothing())
    .execute();
}

export async function openAccounts(trx: Db, workspaceId: number): Promise<void> {
  await trx
    .insertInto('account')
    .values(
      OF_A_WORKSPACE.map((kind) => ({
        code: accountOf(workspaceId, kind),
        client_id: workspaceId,
        currency: CURRENCY,
        min_balance: 0n,
      })),
    )
    .execute();
}

export function accountOf(workspaceId: number, kind: (typeof OF_A_WORKSPACE)[number]): string {
  return `workspace:${workspaceId}:${kind}`;
}

/**
 * Once per verified person, while nothing but machines of one's own can be paid with it. Who had an account under this
 * address before is that person still.
 */
export async function grantStarterCredit(ctx: Context, trx: Db, workspaceId: number, userId: number): Promise<void> {
  const onlyOwnMachines = [...ctx.providers.values()].every(({ name, simulated }) => name === 'local' || simulated);
  const amount = asMicro(onlyOwnMachines ? ctx.config.starterCredit : 0n);
  if (amount === 0n || (await isReturning(ctx, trx, userId))) return;
  await post(trx, 'starter', `starter:${userId}`, workspaceId, [
    { account: 'promo', amount: asMicro(-amount) },
    { account: accountOf(workspaceId, 'credit'), amount },
  ]);
}

async function isReturning(ctx: Context, trx: Db, userId: number): Promise<boolean> {
  const former = await trx
    .selectFrom('former_address')
    .select('hash')
    .where('hash', '=', await addressHashOf(ctx, trx, userId))
    .executeTakeFirst();
  return former !== undefined;
}

/** Tells, unreadably, whether two accounts had one address. */
export async function addressHashOf(ctx: Pick<Context, 'secrets'>, db: Db, userId: number): Promise<Buffer> {
  const { email } = await db.selectFrom('app_user').select('email').where('id', '=', userId).executeTakeFirstOrThrow();
  return addressMark(ctx, email);
}

/** Remembers, unreadably, that somebody had an account under an address that they give up. */
export async function rememberAddress(ctx: Pick<Context, 'secrets'>, trx: Db, email: string): Promise<void> {
  await trx
    .insertInto('former_address')
    .values({ hash: addressMark(ctx, email) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const addressMark = ({ secrets }: Pick<Context, 'secrets'>, email: string): Buffer =>
  secrets.keyedHash(email, 'former_address|hash');
