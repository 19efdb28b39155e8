import { asMicro, type Micro } from '@stagi/contract/money.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { countAttempt, refuseDuringBackoff } from '../attempts/attempts.ts';
import { accountOf, addressHashOf } from '../billing/accounts.ts';
import { post } from '../billing/ledger.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';

/** Ten wrong codes without a wait; generated codes cannot be guessed anyway. */
const GUESS_BACKOFF = { free: 10, wait: 15, longest: 900 };

/** Rate limits guessing, with a right code too. Called first and outside the transaction, so that the count stays. */
export async function requireKnownCode(ctx: Pick<Context, 'db'>, userId: number, code: string): Promise<void> {
  const key = `promo code|${userId}`;
  await refuseDuringBackoff(ctx, key);
  const known = await ctx.db.selectFrom('promo_code').select('id').where('code', '=', code).executeTakeFirst();
  if (known) return;
  await countAttempt(ctx, key, GUESS_BACKOFF);
  throw invalid(text('This promo code does not exist'), 'promoCode');
}

/** Adds the amount to the workspace's credit. The code is locked, so that its uses and users are counted exactly. */
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
  if (!promo) throw invalid(text('This promo code does not exist'), 'promoCode');
  const mark = await addressHashOf(ctx, trx, userId);
  const { rows } = await sql<{ before: boolean }>`
    select promo_code_was_used(${promo.id}, ${userId}, ${mark}) as before`.execute(trx);
  if (rows[0]?.before) throw refused(text('You have already used this promo code'));
  if (promo.revoked_at) throw refused(text('This promo code is no longer valid'));
  if (promo.expired) throw refused(text('This promo code has expired'));
  if (promo.uses >= promo.uses_max) throw refused(text('This promo code has been used up'));

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
