import { BRAND } from '@stagi/contract/brand.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { Secret, TOTP } from 'otpauth';
import { countAttempt, GUESS_BACKOFF, resetAttempts } from '../attempts/attempts.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import { totpAddedMail, totpRemovedMail } from '../mail/accountMails.ts';
import { WRONG_CODE } from '../passwords/mailedCode.ts';
import type { SignedIn } from '../sessions/authenticate.ts';
import { notifyOwner } from './notifyOwner.ts';
import { addFactorWithCodes, deleteCodesWithoutFactor } from './recoveryCodes.ts';

/** RFC 6238 with the parameters that every app supports: SHA-1, 6 digits, 30 s; a secret of 160 bits (RFC 4226, section 4). */
const PERIOD_SECONDS = 30;
const SECRET_BYTES = 20;
/** Clocks differ: the codes of the previous and the next step are accepted too. */
const STEP_TOLERANCE = 1;
const PENDING_MINUTES = 30;

/** Creates a pending secret. The one in use stays valid until a code of the new one is confirmed. */
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

/** Replaces the secret in use by the pending one. Returns recovery codes if this is the user's first factor. */
export async function confirmTotp(ctx: SignedIn, { code }: { code: string }): Promise<string[] | null> {
  const pending = await ctx.db
    .selectFrom('totp')
    .select(['pending_sealed', 'secret_sealed'])
    .where('user_id', '=', ctx.user.id)
    .where('pending_until', '>', sql<Date>`now()`)
    .executeTakeFirst();
  if (!pending?.pending_sealed) throw refused(text('This took too long. Start again.'));
  const sealed = pending.pending_sealed;
  const key = `totp-confirm|${ctx.user.id}`;
  await countAttempt(ctx, key, GUESS_BACKOFF);
  const step = timeStepOf(ctx.secrets.open(sealed, placeOf(ctx.user.id)), code, Date.now());
  if (step === null) throw invalid(WRONG_CODE, 'code');
  return addFactorWithCodes(ctx, ctx.user.id, async (trx) => {
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
    if (numUpdatedRows === 0n) throw refused(text('This took too long. Start again.'));
    await resetAttempts(trx, key);
    await notifyOwner(ctx, trx, totpAddedMail);
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
    await deleteCodesWithoutFactor(trx, ctx.user.id);
    await notifyOwner(ctx, trx, totpRemovedMail);
  });
}

/** Checks a code of the user's app. Returns the function that consumes it, or `null`. */
export async function checkTotp(
  ctx: Pick<Context, 'db' | 'secrets'>,
  userId: number,
  code: string,
): Promise<((trx: Db) => Promise<boolean>) | null> {
  const row = await ctx.db.selectFrom('totp').select('secret_sealed').where('user_id', '=', userId).executeTakeFirst();
  const sealed = row?.secret_sealed;
  if (!sealed) return null;
  const step = timeStepOf(ctx.secrets.open(sealed, placeOf(userId)), code, Date.now());
  if (step === null) return null;
  return async (trx) => {
    // A used code and all earlier ones are refused, so that no code is accepted twice.
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

/** The time step of a code, one step before or after now at most; `null` when it matches none. */
export function timeStepOf(secret: string, code: string, at: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const aside = totpOf(secret, '').validate({ token: code, timestamp: at, window: STEP_TOLERANCE });
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
