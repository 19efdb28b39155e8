import type { ConnectedIdentity } from '@stagi/contract/identities.ts';
import { type IdentityProvider, PROVIDER_NAMES } from '@stagi/contract/identityProviders.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { identityConnectedMail, identityDisconnectedMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import type { Authenticated } from './authenticate.ts';
import type { ShownIdentity } from './shownIdentity.ts';
import { addIdentity, knownOwner } from './signInWith.ts';

type SignedIn = Visitor & Pick<Authenticated, 'session' | 'user'>;

export async function listIdentities(db: Db, userId: number): Promise<ConnectedIdentity[]> {
  const rows = await db
    .selectFrom('external_identity')
    .select(['provider', 'email', 'created_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .orderBy('provider')
    .execute();
  return rows.map((row) => ({
    provider: row.provider,
    email: row.email,
    connectedAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
  }));
}

/** Its address need not be the account's: who is signed in here and there has shown both. */
export async function connectIdentity(ctx: SignedIn, identity: ShownIdentity): Promise<void> {
  const provider = PROVIDER_NAMES[identity.provider];
  await inTransaction(ctx.db, async (trx) => {
    const owner = await knownOwner(trx, identity);
    if (owner === ctx.user.id) return;
    if (owner !== undefined) {
      throw refused('This {{provider}} account is connected to another account here', { provider });
    }
    if (!(await addIdentity(trx, identity, ctx.user.id))) {
      throw refused('Your account is connected to another {{provider}} account. Disconnect that one first.', {
        provider,
      });
    }
    await sendMail(ctx, trx, ctx.user.email, identityConnectedMail(ctx, ctx.user, provider));
  });
}

export async function disconnectIdentity(ctx: SignedIn, which: IdentityProvider): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    // Two at once, one of each provider, must not take both away.
    await trx.selectFrom('app_user').select('id').where('id', '=', ctx.user.id).forUpdate().execute();
    const identities = await listIdentities(trx, ctx.user.id);
    if (!identities.some(({ provider }) => provider === which)) return;
    if (await isOnlyWayIn(trx, ctx.user.id, identities)) {
      throw refused('This is your only way to log in. Add a password first.');
    }
    await trx
      .deleteFrom('external_identity')
      .where('user_id', '=', ctx.user.id)
      .where('provider', '=', which)
      .execute();
    await sendMail(ctx, trx, ctx.user.email, identityDisconnectedMail(ctx, ctx.user, PROVIDER_NAMES[which]));
  });
}

/** Whether there is nothing but one of them to log in with: no password, no passkey. */
export async function isOnlyWayIn(db: Db, userId: number, identities: readonly ConnectedIdentity[]): Promise<boolean> {
  if (identities.length !== 1) return false;
  const others = await db
    .selectFrom('app_user')
    .leftJoin('passkey', 'passkey.user_id', 'app_user.id')
    .select('app_user.id')
    .where('app_user.id', '=', userId)
    .where((where) => where.or([where('password_hash', 'is not', null), where('passkey.id', 'is not', null)]))
    .limit(1)
    .executeTakeFirst();
  return others === undefined;
}
