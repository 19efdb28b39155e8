import { Email, PersonName } from '@stagi/contract/fields.ts';
import { PROVIDER_NAMES } from '@stagi/contract/identityProviders.ts';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { identityConnectedMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { createPersonalWorkspace } from '../workspaces/create.ts';
import { dropUnverified } from './dropUnverified.ts';
import { type Entered, enter } from './enter.ts';
import type { ShownIdentity } from './shownIdentity.ts';

/**
 * Signs in whoever a provider has shown: the account that the identity is of, the one that it is joined to because both
 * know the address to be theirs, or a new one.
 */
export function signInWith(ctx: Visitor, identity: ShownIdentity): Promise<Entered> {
  return inTransaction(ctx.db, async (trx) => {
    const userId = (await knownOwner(trx, identity)) ?? (await join(ctx, trx, identity));
    const user = await trx
      .selectFrom('app_user')
      .select('disabled_at')
      .where('id', '=', userId)
      .executeTakeFirstOrThrow();
    if (user.disabled_at) throw refused('This account has been disabled');
    return enter(ctx, trx, userId, identity.provider);
  });
}

/** Whose identity it is already. */
export async function knownOwner(trx: Db, { issuer, subject, email }: ShownIdentity): Promise<number | undefined> {
  const known = await trx
    .updateTable('external_identity')
    .set({ last_used_at: sql<Date>`now()`, email })
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .returning('user_id')
    .executeTakeFirst();
  return known?.user_id;
}

/** Writes an identity down; false when it is of somebody else, or the account has another of the same provider. */
export async function addIdentity(
  trx: Db,
  { provider, issuer, subject, email }: ShownIdentity,
  userId: number,
): Promise<boolean> {
  const added = await trx
    .insertInto('external_identity')
    .values({ provider, issuer, subject, email, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return added !== undefined;
}

async function join(ctx: Visitor, trx: Db, identity: ShownIdentity): Promise<number> {
  const provider = PROVIDER_NAMES[identity.provider];
  const email = Email.safeParse(identity.email);
  // Whoever has not shown that an address is theirs learns nothing about it.
  if (!identity.emailVerified || !email.success) {
    throw refused('Your {{provider}} account has no confirmed e-mail. Confirm it there, then try again.', { provider });
  }
  const created = await create(ctx, trx, email.data, identity.name);
  const owner = await trx
    .selectFrom('app_user')
    .select(['id', 'email', 'name', 'language', 'email_verified_at', 'disabled_at'])
    .where('email', '=', email.data)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (owner.disabled_at) throw refused('This account has been disabled');
  if (owner.email_verified_at === null) await dropUnverified(trx, owner.id);
  if (!(await addIdentity(trx, identity, owner.id))) {
    // Two tabs may have come with the same identity at once.
    const same = await knownOwner(trx, identity);
    if (same !== undefined) return same;
    throw refused(
      'This e-mail is taken: its account logs in with another {{provider}} account. Log in with that one, or with your password.',
      { provider },
    );
  }
  if (!created) await sendMail(ctx, trx, owner.email, identityConnectedMail(ctx, owner, provider));
  return owner.id;
}

/** Makes the account of an address that has none. */
async function create(ctx: Visitor, trx: Db, email: string, shownName: string | null): Promise<boolean> {
  const name = PersonName.safeParse(shownName?.slice(0, 100));
  const values = {
    email,
    name: name.success ? name.data : (email.split('@')[0] ?? email).slice(0, 100),
    email_verified_at: new Date(),
  };
  const user = await trx
    .insertInto('app_user')
    .values(values)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(['id', 'name'])
    .executeTakeFirst();
  if (!user) return false;
  // Whatever was begun with this address before, and by whom: its owner is here now.
  await trx.deleteFrom('pending_registration').where('email', '=', email).execute();
  await createPersonalWorkspace(ctx, trx, user);
  return true;
}
