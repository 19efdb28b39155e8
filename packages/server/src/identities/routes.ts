import type { api } from '@stagi/contract/api.ts';
import { limitSignInRate } from '../attempts/addressRateLimit.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { githubLink, identityFromGithubCallback } from './github.ts';
import { googleLink, identityFromGoogleCallback } from './google.ts';
import { connectIdentity, disconnectIdentity, isOnlySignInMethod, listIdentities } from './list.ts';
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
  async list(ctx) {
    const identities = await listIdentities(ctx.db, ctx.user.id);
    return { isSuccess: true, identities, onlyWayIn: await isOnlySignInMethod(ctx.db, ctx.user.id, identities) };
  },
  async begin(ctx, { provider }) {
    await limitSignInRate(ctx);
    return provider === 'google'
      ? { isSuccess: true, ...(await googleLink(ctx, ctx.session.id)) }
      : { isSuccess: true, nonce: null, ...(await githubLink(ctx, ctx.session.id)) };
  },
  async connect(ctx, returned) {
    const identity =
      returned.provider === 'google'
        ? await identityFromGoogleCallback(ctx, returned, ctx.session.id)
        : await identityFromGithubCallback(ctx, returned, ctx.session.id);
    await connectIdentity(ctx, identity);
    return { isSuccess: true };
  },
  async disconnect(ctx, { provider }) {
    await disconnectIdentity(ctx, provider);
    return { isSuccess: true };
  },
};
