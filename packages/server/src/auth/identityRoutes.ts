import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/mount.ts';
import { countVisit } from './addressLimit.ts';
import { githubIdentity, githubLink } from './github.ts';
import { googleIdentity, googleLink } from './google.ts';
import { connectIdentity, disconnectIdentity, isOnlyWayIn, listIdentities } from './identityList.ts';
import { signInWith } from './signInWith.ts';

export const identityHandlers: HandlersOf<typeof api.identities> = {
  async googleLink(ctx) {
    await countVisit(ctx);
    return { isSuccess: true, ...(await googleLink(ctx, null)) };
  },
  async validateGoogle(ctx, returned) {
    await countVisit(ctx);
    return { isSuccess: true, ...(await signInWith(ctx, await googleIdentity(ctx, returned, null))) };
  },
  async githubLink(ctx) {
    await countVisit(ctx);
    return { isSuccess: true, ...(await githubLink(ctx, null)) };
  },
  async validateGithub(ctx, returned) {
    await countVisit(ctx);
    return { isSuccess: true, ...(await signInWith(ctx, await githubIdentity(ctx, returned, null))) };
  },
  async list(ctx) {
    const identities = await listIdentities(ctx.db, ctx.user.id);
    return { isSuccess: true, identities, onlyWayIn: await isOnlyWayIn(ctx.db, ctx.user.id, identities) };
  },
  async begin(ctx, { provider }) {
    await countVisit(ctx);
    return provider === 'google'
      ? { isSuccess: true, ...(await googleLink(ctx, ctx.session.id)) }
      : { isSuccess: true, nonce: null, ...(await githubLink(ctx, ctx.session.id)) };
  },
  async connect(ctx, returned) {
    const identity =
      returned.provider === 'google'
        ? await googleIdentity(ctx, returned, ctx.session.id)
        : await githubIdentity(ctx, returned, ctx.session.id);
    await connectIdentity(ctx, identity);
    return { isSuccess: true };
  },
  async disconnect(ctx, { provider }) {
    await disconnectIdentity(ctx, provider);
    return { isSuccess: true };
  },
};
