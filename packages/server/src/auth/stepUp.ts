import type { SecondFactorMethod } from '@stagi/contract/authResponse.ts';
import { CODE_RESEND_SECONDS, CODE_TRIES, CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import type { PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { tooMany } from '../http/errors.ts';
import { recoveryCodeUsedMail, stepUpCodeMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { forgetAttempts, GUESSES, MAILS, takeAttempt } from './attempts.ts';
import type { SignedIn } from './authenticate.ts';
import { attemptKey } from './devices.ts';
import { checkFactor, type Shown, wrongFactor } from './factor.ts';
import { newCode } from './mailedCode.ts';
import { askForPasskey } from './passkeys.ts';
import { amongHashers, hashSecret, verifySecret } from './passwords.ts';
import { methodsOf } from './secondFactor.ts';
import { tellOwner } from './tellOwner.ts';

/** By what somebody can show that it is them. Who has no second factor gets a code by mail, unless one still holds. */
export async function beginStepUp(
  ctx: SignedIn,
  { newCode: wantsNew = false }: { newCode?: boolean | undefined },
): Promise<{ methods: SecondFactorMethod[]; mailed: { to: string; nextInSeconds: number } | null }> {
  const methods = await methodsOf(ctx.db, ctx.user.id);
  if (methods.length > 0) return { methods, mailed: null };
  const held = await codeThatHolds(ctx.db, ctx.session.id);
  const wait = held ? Math.ceil(CODE_RESEND_SECONDS - held.age) : 0;
  if (held && !wantsNew) return { methods, mailed: { to: ctx.user.email, nextInSeconds: Math.max(0, wait) } };
  if (wait > 0) throw tooMany(wait);
  await takeAttempt(ctx, `step-up-mail|${ctx.user.id}`, MAILS);
  await mailCode(ctx);
  return { methods, mailed: { to: ctx.user.email, nextInSeconds: CODE_RESEND_SECONDS } };
}

export async function stepUpOptions(ctx: SignedIn): Promise<PasskeyRequest> {
  return askForPasskey(ctx, { purpose: 'step-up', sessionId: ctx.session.id }, ctx.user.id);
}

/** Notes in the session that its person has shown that it is them. */
export async function stepUp(ctx: SignedIn, shown: Shown): Promise<void> {
  const methods = await methodsOf(ctx.db, ctx.user.id);
  const key = await attemptKey(ctx, 'step-up', ctx.user.email, ctx.user.id);
  await takeAttempt(ctx, key, GUESSES);
  const factor =
    methods.length === 0
      ? await checkMailedCode(ctx, shown)
      : await checkFactor(ctx, ctx.user.id, shown, { purpose: 'step-up', sessionId: ctx.session.id });
  if (!factor) throw wrongFactor(shown);
  await inTransaction(ctx.db, async (trx) => {
    if (!(await factor.spend(trx))) throw wrongFactor(shown);
    await forgetAttempts(trx, key);
    if (factor.method === 'recovery-code') await tellOwner(ctx, trx, recoveryCodeUsedMail);
    await trx
      .updateTable('session')
      .set({ stepped_up_at: sql<Date>`now()` })
      .where('id', '=', ctx.session.id)
      .execute();
  });
}

async function mailCode(ctx: SignedIn): Promise<void> {
  const code = newCode();
  const fresh = {
    code_hash: await amongHashers(() => hashSecret(code)),
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

function codeThatHolds(db: Db, sessionId: string): Promise<{ age: number } | undefined> {
  return db
    .selectFrom('step_up_code')
    .select(sql<number>`extract(epoch from now() - sent_at)::float8`.as('age'))
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', sql<Date>`now()`)
    .where('tries', '<', CODE_TRIES)
    .executeTakeFirst();
}

/** The try is counted before the code is looked at, so that parallel guesses cannot share one. */
async function checkMailedCode(ctx: SignedIn, { code }: Shown) {
  if (code === undefined) return null;
  const tried = await ctx.db
    .updateTable('step_up_code')
    .set({ tries: sql<number>`tries + 1` })
    .where('session_id', '=', ctx.session.id)
    .where('tries', '<', CODE_TRIES)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('code_hash')
    .executeTakeFirst();
  const matches = await amongHashers(() => verifySecret(tried?.code_hash ?? null, code));
  if (!tried || !matches) return null;
  return {
    method: 'mailed' as const,
    async spend(trx: Db) {
      const { numDeletedRows } = await trx
        .deleteFrom('step_up_code')
        .where('session_id', '=', ctx.session.id)
        .where('code_hash', '=', tried.code_hash)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
