import { asMicro, type Micro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { refuseWhileWaiting, takeAttempt } from '../auth/attempts.ts';
import { accountOf, markOfPerson } from '../billing/accounts.ts';
import { post } from '../billing/ledger.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';

/** Ten wrong ones are forgiven; codes that the platform made up are not found by trying anyhow. */
const TRIES = { free: 10, wait: 15, longest: 900 };

/** Before anything else, and outside its transaction: who guesses waits, with a right code too. */
export async function requireKnown(ctx: Pick<Context, 'db'>, userId: number, code: string): Promise<void> {
  const key = `promo code|${userId}`;
  await refuseWhileWaiting(ctx, key);
  const known = await ctx.db.selectFrom('promo_code').select('id').where('code', '=', code).executeTakeFirst();
  if (known) return;
  await takeAttempt(ctx, key, TRIES);
  throw invalid('This promo code does not exist', 'promoCode');
}

/** Adds the amount to the workspace's credit. The lock on the code lets its uses and its people be counted exactly. */
export async function activate(
  ctx: Pick<Context, 'secrets'>,
  trx: Db,
  { userId, workspaceId, code }: { userId: number; workspaceId: number; code: string },
): Promise<Micro> {
  const promo = await trx
    .selectFrom('promo_code')
    .select(['id', 'amount', 'uses', 'uses_max', 'revoked_at', sql<boolean>`expires_at <= now()`.as('expired')])
    .where('code', '=', code)
    .forUpdate()
    .executeTakeFirst();
  if (!promo) throw invalid('This promo code does not exist', 'promoCode');
  const mark = await markOfPerson(ctx, trx, userId);
  const { rows } = await sql<{ before: boolean }>`
    select promo_code_was_used(${promo.id}, ${userId}, ${mark}) as before`.execute(trx);
  if (rows[0]?.before) throw refused('You have already used this promo code');
  if (promo.revoked_at) throw refused('This promo code is no longer valid');
  if (promo.expired) throw refused('This promo code has expired');
  if (promo.uses >= promo.uses_max) throw refused('This promo code has been used up');

  const journalId = await post(trx, 'promo', `promo:${promo.id}:${userId}`, workspaceId, [
    { account: 'promo', amount: asMicro(-promo.amount) },
    { account: accountOf(workspaceId, 'credit'), amount: promo.amount },
  ]);
  await trx
    .insertInto('promo_activation')
    .values({
      promo_code_id: promo.id,
      activated_by: userId,
      person_mark: mark,
      workspace_id: workspaceId,
      journal_id: journalId,
    })
    .execute();
  await trx
    .updateTable('promo_code')
    .set({ uses: promo.uses + 1 })
    .where('id', '=', promo.id)
    .execute();
  await announce(trx, 'changed', { workspaceId, entity: 'balance', id: null });
  return promo.amount;
}
