import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

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

/** Who had an account under this address before is that person still. */
export async function isFormerAddress(ctx: Pick<Context, 'secrets'>, db: Db, email: string): Promise<boolean> {
  const former = await db
    .selectFrom('former_address')
    .select('hash')
    .where('hash', '=', addressMark(ctx, email))
    .executeTakeFirst();
  return former !== undefined;
}

/** Tells, unreadably, whether two accounts had one address. */
export async function addressHashOf(ctx: Pick<Context, 'secrets'>, db: Db, userId: number): Promise<Buffer> {
  const { email } = await db.selectFrom('app_user').select('email').where('id', '=', userId).executeTakeFirstOrThrow();
  return addressMark(ctx, email);
}

export const addressMark = ({ secrets }: Pick<Context, 'secrets'>, email: string): Buffer =>
  secrets.keyedHash(email, 'former_address|hash');
