import type { ConnectedIdentity } from '@stagi/contract/identities.ts';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { text } from '@stagi/contract/text.ts';
import { isConfigured, nameOfProvider } from '../config/identityProviders.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { identityConnectedMail, identityDisconnectedMail } from '../mail/accountMails.ts';
import { sendMail } from '../mail/send.ts';
import type { Authenticated } from '../sessions/authenticate.ts';
import type { ProviderIdentity } from './identityClaims.ts';
import { linkIdentity, ownerOfIdentity } from './signInWith.ts';

type SignedIn = Visitor & Pick<Authenticated, 'session' | 'user'>;

type Ground = Pick<Context, 'config' | 'db'>;

export async function listIdentities(ctx: Ground, userId: number): Promise<ConnectedIdentity[]> {
  const rows = await ctx.db
    .selectFrom('external_identity')
    .select(['provider', 'issuer', 'email', 'created_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .orderBy('provider')
    .execute();
  const signsInOtherwise = await hasPasswordOrPasskey(ctx, userId);
  // Those of a provider that is no longer configured, or has another issuer now, let nobody in.
  const usable = rows.filter((row) => isConfigured(ctx.config.identityProviders, row));
  return rows.map((row) => ({
    provider: row.provider,
    email: row.email,
    connectedAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
    isOnlyWayIn: !signsInOtherwise && usable.every((one) => one === row),
  }));
}

/** The identity's address may differ from the account's: the user is signed in to both. */
export async function connectIdentity(ctx: SignedIn, identity: ProviderIdentity): Promise<void> {
  const provider = nameOfProvider(ctx.config.identityProviders, identity.provider);
  await inTransaction(ctx.db, async (trx) => {
    const owner = await ownerOfIdentity(trx, identity);
    if (owner === ctx.user.id) return;
    if (owner !== undefined) {
      throw refused(text('This {{provider}} account is connected to another account here'), { provider });
    }
    if (!(await linkIdentity(trx, identity, ctx.user.id))) {
      throw refused(text('Your account is connected to another {{provider}} account. Disconnect that one first.'), {
        provider,
      });
    }
    await sendMail(ctx, trx, ctx.user.email, identityConnectedMail(ctx, ctx.user, provider));
  });
}

export async function disconnectIdentity(ctx: SignedIn, which: IdentityProvider): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    // Locked, so that two requests at once cannot remove both providers.
    await trx.selectFrom('app_user').select('id').where('id', '=', ctx.user.id).forUpdate().execute();
    const identities = await listIdentities({ config: ctx.config, db: trx }, ctx.user.id);
    const identity = identities.find(({ provider }) => provider === which);
    if (!identity) return;
    if (identity.isOnlyWayIn)
      throw refused(
        ctx.config.identityProviders.isPasswordOff
          ? text('This is your only way to log in. Connect another one or add a passkey first.')
          : text('This is your only way to log in. Add a password first.'),
      );
    await trx
      .deleteFrom('external_identity')
      .where('user_id', '=', ctx.user.id)
      .where('provider', '=', which)
      .execute();
    await sendMail(
      ctx,
      trx,
      ctx.user.email,
      identityDisconnectedMail(ctx, ctx.user, nameOfProvider(ctx.config.identityProviders, which)),
    );
  });
}

async function hasPasswordOrPasskey({ db, config }: Ground, userId: number): Promise<boolean> {
  const found = await db
    .selectFrom('app_user')
    .leftJoin('passkey', 'passkey.user_id', 'app_user.id')
    .select('app_user.id')
    .where('app_user.id', '=', userId)
    .where((where) =>
      where.or([
        where('passkey.id', 'is not', null),
        ...(config.identityProviders.isPasswordOff ? [] : [where('password_hash', 'is not', null)]),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
