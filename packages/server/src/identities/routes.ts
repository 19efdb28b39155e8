import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { limitSignInRate } from '../attempts/addressRateLimit.ts';
import type { HandlersOf } from '../http/handlers.ts';
import type { Visitor } from '../http/visitor.ts';
import type { Authenticated } from '../sessions/authenticate.ts';
import { githubLink, identityFromGithubCallback } from './github.ts';
import { googleLink, identityFromGoogleCallback } from './google.ts';
import type { ProviderIdentity } from './identityClaims.ts';
import { connectIdentity, disconnectIdentity, listIdentities } from './list.ts';
import { identityFromOpenIdCallback, openIdLink } from './openId.ts';
import { signInWith } from './signInWith.ts';

export const identityHandlers: HandlersOf<typeof api.identities> = {
  async googleLink(ctx) {
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await googleLink(ctx, null)) };
  },
  async validateGoogle(ctx, { invite, ...returned }) {
    await limitSignInRate(ctx);
    const identity = await identityFromGoogleCallback(ctx, returned, null);
    return { isSuccess: true, ...(await signInWith(ctx, identity, invite)) };
  },
  async githubLink(ctx) {
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await githubLink(ctx, null)) };
  },
  async validateGithub(ctx, { invite, ...returned }) {
    await limitSignInRate(ctx);
    const identity = await identityFromGithubCallback(ctx, returned, null);
    return { isSuccess: true, ...(await signInWith(ctx, identity, invite)) };
  },
  async openIdLink(ctx, { provider }) {
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await openIdLink(ctx, provider, null)) };
  },
  async validateOpenId(ctx, { provider, invite, ...returned }) {
    await limitSignInRate(ctx);
    const identity = await identityFromOpenIdCallback(ctx, provider, returned, null);
    return { isSuccess: true, ...(await signInWith(ctx, identity, invite)) };
  },
  async list(ctx) {
    const identities = await listIdentities(ctx, ctx.user.id);
    return { isSuccess: true, identities, onlyWayIn: identities.some(({ isOnlyWayIn }) => isOnlyWayIn) };
  },
  async begin(ctx, { provider }) {
    await limitSignInRate(ctx);
    if (provider === 'google') return { isSuccess: true, ...(await googleLink(ctx, ctx.session.id)) };
    const link = provider === 'github' ? githubLink(ctx, ctx.session.id) : openIdLink(ctx, provider, ctx.session.id);
    return { isSuccess: true, nonce: null, ...(await link) };
  },
  async connect(ctx, returned) {
    await connectIdentity(ctx, await identityFrom(ctx, returned));
    return { isSuccess: true };
  },
  async disconnect(ctx, { provider }) {
    await disconnectIdentity(ctx, provider);
    return { isSuccess: true };
  },
};

function identityFrom(
  ctx: Visitor & Pick<Authenticated, 'session'>,
  { provider, state, token = '', nonce = '', code = '', iss }: ParsedInputOf<typeof api.identities.connect>,
): Promise<ProviderIdentity> {
  if (provider === 'google') return identityFromGoogleCallback(ctx, { token, state, nonce }, ctx.session.id);
  if (provider === 'github') return identityFromGithubCallback(ctx, { code, state }, ctx.session.id);
  return identityFromOpenIdCallback(ctx, provider, { code, state, iss }, ctx.session.id);
}
