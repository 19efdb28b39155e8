import type { api } from '@stagi/contract/api.ts';
import { limitSignInRate } from '../attempts/addressRateLimit.ts';
import { inTransaction } from '../db/pool.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { inviteUnusable } from '../invites/find.ts';
import { hashOfInvite } from '../invites/hash.ts';
import { lockOperator } from '../people/lockedByOperator.ts';
import { endOfInvitation } from './admission.ts';
import { createSignUpLink, listSignUpLinks, revokeSignUpLink } from './links.ts';

export const signUpLinkHandlers: HandlersOf<typeof api.signUpLinks> = {
  async view(ctx, { invite }) {
    await limitSignInRate(ctx);
    const end = await endOfInvitation(ctx, hashOfInvite(invite));
    if (!end) throw inviteUnusable();
    return { isSuccess: true, expiresAt: end.toISOString() };
  },
  async create({ db, config, user }, input) {
    const made = await inTransaction(db, async (trx) => {
      await lockOperator(trx, user.id);
      return createSignUpLink({ db: trx, config }, user.id, input);
    });
    return { isSuccess: true, ...made };
  },
  async list({ db }, { entityFilterRequest }) {
    const { entities, count } = await listSignUpLinks(db, entityFilterRequest);
    return pageOf(entities, count, entityFilterRequest);
  },
  async revoke({ db, user }, { id }) {
    const entity = await inTransaction(db, async (trx) => {
      await lockOperator(trx, user.id);
      return revokeSignUpLink(trx, id);
    });
    return { isSuccess: true, entity };
  },
};
