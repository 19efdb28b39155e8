import { Email } from '@stagi/contract/fields.ts';
import { plainLine } from '@stagi/contract/plainText.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { nameOfProvider } from '../config/identityProviders.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { held, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { identityConnectedMail } from '../mail/accountMails.ts';
import { sendMail } from '../mail/send.ts';
import { finishSignIn, type SignInResult } from '../secondFactor/finishSignIn.ts';
import { admitNewcomer, inviteHashOf } from '../signUpLinks/admission.ts';
import { createPersonalWorkspace } from '../workspaces/create.ts';
import type { ProviderIdentity } from './identityClaims.ts';
import { resetUnverifiedAccount } from './resetUnverifiedAccount.ts';

/**
 * Signs in with a provider's identity: to the account it is linked to, to the account with the same confirmed address
 * (which it is then linked to), or to a new account, which an invitation may be needed for.
 */
export function signInWith(
  ctx: Visitor,
  identity: ProviderIdentity,
  invite: string | undefined,
): Promise<SignInResult & Joined> {
  return inTransaction(ctx.db, async (trx) => {
    const known = await ownerOfIdentity(trx, identity);
    const { userId, ...joined } =
      known === undefined ? await linkByAddress(ctx, trx, identity, invite) : { userId: known };
    ctx.triesAccount(userId);
    const user = await trx
      .selectFrom('app_user')
      .select('disabled_at')
      .where('id', '=', userId)
      .executeTakeFirstOrThrow();
    if (user.disabled_at) throw refused(text('This account has been disabled'));
    return { ...(await finishSignIn(ctx, trx, userId, identity.provider)), ...joined };
  });
}

/** The workspace that a new account has joined by its invitation. */
interface Joined {
  joinedClientId?: number;
}

/** The user that an identity is linked to. */
export async function ownerOfIdentity(
  trx: Db,
  { issuer, subject, email }: ProviderIdentity,
): Promise<number | undefined> {
  const known = await trx
    .updateTable('external_identity')
    .set({ last_used_at: sql<Date>`now()`, email })
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .returning('user_id')
    .executeTakeFirst();
  return known?.user_id;
}

/**
 * False when it is linked to another user, or the user has another identity of the same provider. One of an issuer that
 * the provider had before, which can no longer sign in, gives way.
 */
export async function linkIdentity(
  trx: Db,
  { provider, issuer, subject, email }: ProviderIdentity,
  userId: number,
): Promise<boolean> {
  await trx
    .deleteFrom('external_identity')
    .where('user_id', '=', userId)
    .where('provider', '=', provider)
    .where('issuer', '<>', issuer)
    .execute();
  const added = await trx
    .insertInto('external_identity')
    .values({ provider, issuer, subject, email, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return added !== undefined;
}

async function linkByAddress(
  ctx: Visitor,
  trx: Db,
  identity: ProviderIdentity,
  invite: string | undefined,
): Promise<Joined & { userId: number }> {
  // It would change an account, or make one.
  if (ctx.heldSince) throw held();
  const provider = nameOfProvider(ctx.config.identityProviders, identity.provider);
  const email = Email.safeParse(identity.email);
  // Without a confirmed address the caller must not learn whether it has an account.
  if (!identity.emailVerified || !email.success) {
    throw refused(text('Your {{provider}} account has no confirmed email. Confirm it there, then try again.'), {
      provider,
    });
  }
  const joined = await createAccount(ctx, trx, email.data, identity.name, invite);
  const owner = await trx
    .selectFrom('app_user')
    .select(['id', 'email', 'name', 'language', 'email_verified_at', 'disabled_at'])
    .where('email', '=', email.data)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (owner.disabled_at) throw refused(text('This account has been disabled'));
  if (owner.email_verified_at === null) await resetUnverifiedAccount(trx, owner.id);
  if (!(await linkIdentity(trx, identity, owner.id))) {
    // Another tab may have linked the same identity meanwhile.
    const same = await ownerOfIdentity(trx, identity);
    if (same !== undefined) return { userId: same };
    throw refused(
      ctx.config.identityProviders.isPasswordOff
        ? text('This email is taken: its account logs in with another {{provider}} account. Log in with that one.')
        : text(
            'This email is taken: its account logs in with another {{provider}} account. Log in with that one, or with your password.',
          ),
      { provider },
    );
  }
  if (!joined) await sendMail(ctx, trx, owner.email, identityConnectedMail(ctx, owner, provider));
  return { userId: owner.id, ...joined };
}

const NAME_MOST = 100;

/** `null` when the address has an account already. */
async function createAccount(
  ctx: Visitor,
  trx: Db,
  email: string,
  shownName: string | null,
  invite: string | undefined,
): Promise<Joined | null> {
  const values = {
    email,
    name:
      plainLine(shownName ?? '', NAME_MOST) || plainLine(email.split('@')[0]!, NAME_MOST) || email.slice(-NAME_MOST),
    email_verified_at: new Date(),
  };
  const user = await trx
    .insertInto('app_user')
    .values(values)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(['id', 'name'])
    .executeTakeFirst();
  if (!user) return null;
  // Registrations that anybody began with this address are void: its owner has an account now.
  await trx.deleteFrom('pending_registration').where('email', '=', email).execute();
  await createPersonalWorkspace(ctx, trx, user);
  return admitNewcomer(ctx, trx, { ...user, email, inviteHash: inviteHashOf(invite) });
}
