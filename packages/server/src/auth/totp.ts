import { BRAND } from '@stagi/contract/brand.ts';
import { sql } from 'kysely';
import { Secret, TOTP } from 'otpauth';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import { totpAddedMail, totpRemovedMail } from '../mail/letters.ts';
import { forgetAttempts, GUESSES, takeAttempt } from './attempts.ts';
import type { SignedIn } from './authenticate.ts';
import { WRONG_CODE } from './mailedCode.ts';
import { codesForFirstFactor, dropCodesOfNoFactor } from './recoveryCodes.ts';
import { tellOwner } from './tellOwner.ts';

/** RFC 6238 with what every app understands: SHA-1, 6 digits, 30 s; the secret has 160 bits (RFC 4226, section 4). */
const PERIOD_SECONDS = 30;
const SECRET_BYTES = 20;
/** Clocks differ: the code before and the code after are taken too. */
const STEPS_ASIDE = 1;
const PENDING_MINUTES = 30;

/** Makes a secret for an app. Until a code of it is confirmed, the app in use stays the one it was. */
export async function beginTotp(ctx: SignedIn): Promise<{ secret: string; uri: string }> {
  const secret = new Secret({ size: SECRET_BYTES });
  const pending = {
    pending_sealed: ctx.secrets.seal(secret.base32, placeOf(ctx.user.id)),
    pending_until: sql<Date>`now() + ${`${PENDING_MINUTES} minutes`}::interval`,
  };
  await ctx.db
    .insertInto('totp')
    .values({ user_id: ctx.user.id, ...pending })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(pending))
    .execute();
  return { secret: secret.base32, uri: totpOf(secret.base32, ctx.user.email).toString() };
}

/** Takes the new app into use. The first factor of a person brings recovery codes along: they are returned. */
export async function confirmTotp(ctx: SignedIn, { code }: { code: string }): Promise<string[] | null> {
  const pending = await ctx.db
    .selectFrom('totp')
    .select(['pending_sealed', 'secret_sealed'])
    .where('user_id', '=', ctx.user.id)
    .where('pending_until', '>', sql<Date>`now()`)
    .executeTakeFirst();
  if (!pending?.pending_sealed) throw refused('This took too long. Begin again.');
  const sealed = pending.pending_sealed;
  const key = `totp-confirm|${ctx.user.id}`;
  await takeAttempt(ctx, key, GUESSES);
  const step = stepOf(ctx.secrets.open(sealed, placeOf(ctx.user.id)), code, Date.now());
  if (step === null) throw invalid(WRONG_CODE, 'code');
  return codesForFirstFactor(ctx, ctx.user.id, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('totp')
      .set({
        secret_sealed: sealed,
        confirmed_at: sql<Date>`now()`,
        last_step: BigInt(step),
        pending_sealed: null,
        pending_until: null,
      })
      .where('user_id', '=', ctx.user.id)
      .where('pending_sealed', '=', sealed)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw refused('This took too long. Begin again.');
    await forgetAttempts(trx, key);
    await tellOwner(ctx, trx, totpAddedMail);
  });
}

export async function removeTotp(ctx: SignedIn): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const removed = await trx
      .deleteFrom('totp')
      .where('user_id', '=', ctx.user.id)
      .where('secret_sealed', 'is not', null)
      .returning('user_id')
      .executeTakeFirst();
    if (!removed) throw notFound();
    await dropCodesOfNoFactor(trx, ctx.user.id);
    await tellOwner(ctx, trx, totpRemovedMail);
  });
}

/** Whether a code of somebody's app is right; what comes back takes it, once. */
export async function checkTotp(
  ctx: Pick<Context, 'db' | 'secrets'>,
  userId: number,
  code: string,
): Promise<((trx: Db) => Promise<boolean>) | null> {
  const row = await ctx.db.selectFrom('totp').select('secret_sealed').where('user_id', '=', userId).executeTakeFirst();
  const sealed = row?.secret_sealed;
  if (!sealed) return null;
  const step = stepOf(ctx.secrets.open(sealed, placeOf(userId)), code, Date.now());
  if (step === null) return null;
  return async (trx) => {
    // A code that was taken, and every one before it, is spent: two that come at once cannot both pass.
    const { numUpdatedRows } = await trx
      .updateTable('totp')
      .set({ last_step: BigInt(step) })
      .where('user_id', '=', userId)
      .where('secret_sealed', '=', sealed)
      .where('last_step', '<', BigInt(step))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  };
}

/** The time step that a code is of, a step aside at most; `null` when it is of none. */
export function stepOf(secret: string, code: string, at: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const aside = totpOf(secret, '').validate({ token: code, timestamp: at, window: STEPS_ASIDE });
  return aside === null ? null : TOTP.counter({ period: PERIOD_SECONDS, timestamp: at }) + aside;
}

function totpOf(secret: string, email: string): TOTP {
  return new TOTP({
    issuer: BRAND,
    label: email,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
  });
}

const placeOf = (userId: number): string => `totp|${userId}`;
