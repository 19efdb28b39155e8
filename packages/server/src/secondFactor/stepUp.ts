import type { SecondFactorMethod } from '@stagi/contract/authResponse.ts';
import { CODE_RESEND_SECONDS, CODE_TRIES, CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import type { PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { sql } from 'kysely';
import { countAttempt, GUESS_BACKOFF, MAIL_BACKOFF, resetAttempts } from '../attempts/attempts.ts';
import { attemptKey } from '../attempts/knownBrowsers.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { tooManyRequests } from '../http/errors.ts';
import { recoveryCodeUsedMail, stepUpCodeMail } from '../mail/accountMails.ts';
import { requireMail } from '../mail/mailServer.ts';
import { sendMail } from '../mail/send.ts';
import { hashSecret, verifySecret, withHashingSlot } from '../passwords/hashing.ts';
import { newCode } from '../passwords/mailedCode.ts';
import type { SignedIn } from '../sessions/authenticate.ts';
import { checkFactor, type FactorProof, wrongFactorError } from './checkFactor.ts';
import { notifyOwner } from './notifyOwner.ts';
import { passkeyRequest } from './passkeys.ts';
import { secondFactorMethodsOf } from './signInTickets.ts';

/** The user's methods for a step-up. A user without a second factor gets a code by mail, unless the last one is still valid. */
export async function beginStepUp(
  ctx: SignedIn,
  { newCode: wantsNew = false }: { newCode?: boolean | undefined },
): Promise<{ methods: SecondFactorMethod[]; mailed: { to: string; nextInSeconds: number } | null }> {
  const methods = await secondFactorMethodsOf(ctx.db, ctx.user.id);
  if (methods.length > 0) return { methods, mailed: null };
  const held = await unexpiredCode(ctx.db, ctx.session.id);
  const wait = held ? Math.ceil(CODE_RESEND_SECONDS - held.age) : 0;
  if (held && !wantsNew) return { methods, mailed: { to: ctx.user.email, nextInSeconds: Math.max(0, wait) } };
  await requireMail(ctx);
  if (wait > 0) throw tooManyRequests(wait);
  await countAttempt(ctx, `step-up-mail|${ctx.user.id}`, MAIL_BACKOFF);
  await mailCode(ctx);
  return { methods, mailed: { to: ctx.user.email, nextInSeconds: CODE_RESEND_SECONDS } };
}

export async function stepUpOptions(ctx: SignedIn): Promise<PasskeyRequest> {
  return passkeyRequest(ctx, { purpose: 'step-up', sessionId: ctx.session.id }, ctx.user.id);
}

/** Verifies a factor and marks the session as stepped up. */
export async function stepUp(ctx: SignedIn, proof: FactorProof): Promise<void> {
  const methods = await secondFactorMethodsOf(ctx.db, ctx.user.id);
  ctx.triesAccount(ctx.user.id);
  const key = await attemptKey(ctx, 'step-up', ctx.user.email, ctx.user.id);
  await countAttempt(ctx, key, GUESS_BACKOFF);
  const factor =
    methods.length === 0
      ? await checkMailedCode(ctx, proof)
      : await checkFactor(ctx, ctx.user.id, proof, { purpose: 'step-up', sessionId: ctx.session.id });
  if (!factor) throw wrongFactorError(proof);
  await inTransaction(ctx.db, async (trx) => {
    if (!(await factor.consume(trx))) throw wrongFactorError(proof);
    await resetAttempts(trx, key);
    if (factor.method === 'recovery-code') await notifyOwner(ctx, trx, recoveryCodeUsedMail);
    await trx
      .updateTable('session')
      .set({ stepped_up_at: sql<Date>`now()` })
      .where('id', '=', ctx.session.id)
      .execute();
  });
  ctx.log.info({ userId: ctx.user.id, sessionId: ctx.session.id, ip: ctx.ip, by: factor.method }, 'step-up');
}

async function mailCode(ctx: SignedIn): Promise<void> {
  const code = newCode();
  const fresh = {
    code_hash: await withHashingSlot(() => hashSecret(code)),
    tries: 0,
    sent_at: sql<Date>`now()`,
    expires_at: sql<Date>`now() + ${`${CODE_TTL_MINUTES} minutes`}::interval`,
  };
  await inTransaction(ctx.db, async (trx) => {
    await trx
      .insertInto('step_up_code')
      .values({ session_id: ctx.session.id, ...fresh })
      .onConflict((conflict) => conflict.column('session_id').doUpdateSet(fresh))
      .execute();
    await sendMail(ctx, trx, ctx.user.email, stepUpCodeMail(ctx, code, ctx.user));
  });
}

function unexpiredCode(db: Db, sessionId: string): Promise<{ age: number } | undefined> {
  return db
    .selectFrom('step_up_code')
    .select(sql<number>`extract(epoch from now() - sent_at)::float8`.as('age'))
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', sql<Date>`now()`)
    .where('tries', '<', CODE_TRIES)
    .executeTakeFirst();
}

/** The try is counted before the code is compared, so that parallel guesses are counted one by one. */
async function checkMailedCode(ctx: SignedIn, { code }: FactorProof) {
  if (code === undefined) return null;
  const tried = await ctx.db
    .updateTable('step_up_code')
    .set({ tries: sql<number>`tries + 1` })
    .where('session_id', '=', ctx.session.id)
    .where('tries', '<', CODE_TRIES)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('code_hash')
    .executeTakeFirst();
  const matches = await withHashingSlot(() => verifySecret(tried?.code_hash ?? null, code));
  if (!tried || !matches) return null;
  return {
    method: 'mailed' as const,
    async consume(trx: Db) {
      const { numDeletedRows } = await trx
        .deleteFrom('step_up_code')
        .where('session_id', '=', ctx.session.id)
        .where('code_hash', '=', tried.code_hash)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
