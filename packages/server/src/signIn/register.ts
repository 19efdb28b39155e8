import { randomUUID } from 'node:crypto';
import { CODE_RESEND_SECONDS, CODE_TRIES, CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import { sql } from 'kysely';
import { countAttempt, MAIL_BACKOFF } from '../attempts/attempts.ts';
import { rememberBrowser } from '../attempts/knownBrowsers.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, tooManyRequests } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { alreadyRegisteredMail, codeMail } from '../mail/accountMails.ts';
import { requireMail } from '../mail/mailServer.ts';
import { sendMail } from '../mail/send.ts';
import { refuseCommonPassword } from '../passwords/commonPasswords.ts';
import { hashSecret, verifySecret, withHashingSlot } from '../passwords/hashing.ts';
import { newCode, newFlowId, WRONG_CODE } from '../passwords/mailedCode.ts';
import { createSession, type Tokens } from '../sessions/sessions.ts';
import { admitNewcomer, inviteHashOf, requireAdmission } from '../signUpLinks/admission.ts';
import { createPersonalWorkspace } from '../workspaces/create.ts';

interface Registration {
  name: string;
  email: string;
  password: string;
  invite?: string | undefined;
}

/** The tokens of a new account, and the workspace that it has joined by its invitation. */
type NewAccount = Tokens & { joinedClientId?: number };

/**
 * Starts a registration. Known and unknown addresses get the same answer in the same time; the owner of a known one is
 * notified by mail. `flow` identifies this registration: a code mailed for another one does not complete it.
 */
export async function register(ctx: Visitor, { invite, ...input }: Registration): Promise<{ flow: string }> {
  const inviteHash = inviteHashOf(invite);
  await requireAdmission(ctx, { email: input.email, inviteHash });
  await requireMail(ctx);
  refuseCommonPassword(input.password, 'password');
  return withHashingSlot(() => startRegistration(ctx, { ...input, inviteHash }));
}

async function startRegistration(
  ctx: Visitor,
  input: { name: string; email: string; password: string; inviteHash: Buffer | null },
): Promise<{ flow: string }> {
  await countAttempt(ctx, `register|${input.email}`, MAIL_BACKOFF);
  const code = newCode();
  const passwordHash = await hashSecret(input.password);
  const codeHash = await hashSecret(code);
  const flow = newFlowId();
  await inTransaction(ctx.db, async (trx) => {
    const known = await trx
      .selectFrom('app_user')
      .select('language')
      .where('email', '=', input.email)
      .executeTakeFirst();
    await trx
      .insertInto('pending_registration')
      .values({
        id: randomUUID(),
        flow,
        email: input.email,
        name: input.name,
        password_hash: passwordHash,
        code_hash: codeHash,
        invite_hash: input.inviteHash,
        expires_at: sql<Date>`now() + ${`${CODE_TTL_MINUTES} minutes`}::interval`,
      })
      .execute();
    await sendMail(ctx, trx, input.email, known ? alreadyRegisteredMail(ctx, known) : codeMail(ctx, code, input.name));
  });
  return { flow };
}

/**
 * Mails a new code with new tries for the pending registration: at most one a minute, within the limit of registrations.
 * Does nothing when there is none. Without `flow` it starts a flow of its own, so that the code mailed before stays valid.
 */
export async function resendCode(ctx: Visitor, input: { email: string; flow?: string }): Promise<void> {
  await requireMail(ctx);
  const code = newCode();
  const codeHash = await withHashingSlot(() => hashSecret(code));
  await inTransaction(ctx.db, async (trx) => {
    const pending = await latestPending(trx, input);
    if (!pending) return;
    const waited = (Date.now() - pending.sent_at.getTime()) / 1000;
    if (waited < CODE_RESEND_SECONDS) throw tooManyRequests(Math.ceil(CODE_RESEND_SECONDS - waited));
    await countAttempt({ db: trx }, `register|${input.email}`, MAIL_BACKOFF);
    const known = await trx
      .selectFrom('app_user')
      .select('language')
      .where('email', '=', input.email)
      .executeTakeFirst();
    const mailed = {
      code_hash: codeHash,
      tries: 0,
      stranger_tries: 0,
      sent_at: sql<Date>`now()`,
      expires_at: sql<Date>`now() + ${`${CODE_TTL_MINUTES} minutes`}::interval`,
    };
    const { name, password_hash, invite_hash } = pending;
    if (input.flow) await trx.updateTable('pending_registration').set(mailed).where('id', '=', pending.id).execute();
    else
      await trx
        .insertInto('pending_registration')
        .values({
          id: randomUUID(),
          flow: newFlowId(),
          email: input.email,
          name,
          password_hash,
          invite_hash,
          ...mailed,
        })
        .execute();
    await sendMail(
      ctx,
      trx,
      input.email,
      known ? alreadyRegisteredMail(ctx, known) : codeMail(ctx, code, pending.name),
    );
  });
}

/** Completes a registration: user, personal workspace with the Owner role, starter credit, session. */
export async function verifyCode(
  ctx: Visitor,
  input: { email: string; code: string; flow?: string },
): Promise<NewAccount> {
  ctx.triesAccount(null);
  const { pending, matches } = await withHashingSlot(async () => {
    const found = await countTry(ctx.db, input);
    return { pending: found, matches: await verifySecret(found?.code_hash ?? null, input.code) };
  });
  if (!pending || !matches) throw invalid(WRONG_CODE, 'code');

  return inTransaction(ctx.db, async (trx) => {
    const ended = await trx
      .deleteFrom('pending_registration')
      .where('id', '=', pending.id)
      .returning('id')
      .executeTakeFirst();
    if (!ended) throw invalid(WRONG_CODE, 'code');
    const tokens = await createAccount(ctx, trx, pending);
    if (!tokens) throw invalid(WRONG_CODE, 'code');
    return tokens;
  });
}

/** A registration whose code was right. */
interface Confirmed {
  email: string;
  name: string;
  password_hash: string;
  invite_hash: Buffer | null;
}

/** Creates a user with a confirmed address, their workspace and a session; `null` where the address is taken. */
export async function createAccount(
  ctx: Visitor,
  trx: Db,
  { email, name, password_hash, invite_hash }: Confirmed,
): Promise<NewAccount | null> {
  const user = await trx
    .insertInto('app_user')
    .values({ email, name, password_hash, email_verified_at: new Date() })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!user) return null;
  await trx.deleteFrom('pending_registration').where('email', '=', email).execute();
  await createPersonalWorkspace(ctx, trx, { id: user.id, name });
  const joined = await admitNewcomer(ctx, trx, { id: user.id, name, email, inviteHash: invite_hash });
  await rememberBrowser(ctx, trx, user.id);
  return { ...(await createSession(ctx, trx, user.id, 'email')), ...joined };
}

/**
 * Counts a try before the code is compared, so that parallel guesses are counted one by one. Tries without the flow's
 * id are counted apart, so that strangers leave five tries to the owner.
 */
async function countTry(db: Db, input: { email: string; flow?: string }) {
  const pending = await latestPending(db, input);
  if (!pending) return undefined;
  const counted = input.flow
    ? sql`tries = tries + 1 where tries < ${CODE_TRIES}`
    : sql`stranger_tries = stranger_tries + 1 where tries + stranger_tries < ${CODE_TRIES}`;
  const { rows } = await sql<Confirmed & { id: string; code_hash: string }>`
    update pending_registration set ${counted} and id = ${pending.id}
    returning id, email, name, password_hash, code_hash, invite_hash`.execute(db);
  return rows[0];
}

function latestPending(db: Db, { email, flow }: { email: string; flow?: string }) {
  let query = db
    .selectFrom('pending_registration')
    .select(['id', 'name', 'password_hash', 'invite_hash', 'sent_at'])
    .where('email', '=', email)
    .where('expires_at', '>', sql<Date>`now()`);
  if (flow) query = query.where('flow', '=', flow);
  return query.orderBy('created_at', 'desc').limit(1).executeTakeFirst();
}
