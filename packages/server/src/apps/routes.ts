import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { authorizationResponse, issueAuthorizationCode, requestingApp } from './authorize.ts';
import { listConsents, presentConsent, revokeConsent } from './consents.ts';

export const appHandlers: HandlersOf<typeof api.apps> = {
  async authorizationRequest(ctx, request) {
    const { id, name, isFirstParty, permissions } = requestingApp(ctx, request);
    return {
      isSuccess: true,
      app: { id, name, isFirstParty, permissions: permissions && [...permissions] },
      redirectHost: new URL(request.redirect_uri).host || new URL(request.redirect_uri).protocol.slice(0, -1),
      denyLink: authorizationResponse(ctx, request, { error: 'access_denied' }),
    };
  },
  async authorizationCode(ctx, { workspace_id, ...request }) {
    const code = await issueAuthorizationCode(ctx, request, workspace_id);
    const link = authorizationResponse(ctx, request, { code });
    return { isSuccess: true, code, state: request.state, iss: ctx.config.appOrigin, link };
  },
  async consents(ctx, { entityFilterRequest }) {
    const { rows, count } = await listConsents(ctx, ctx.user.id, entityFilterRequest);
    return pageOf(
      rows.map((row) => presentConsent(ctx.config, row)),
      count,
      entityFilterRequest,
    );
  },
  async revokeConsent(ctx, { id }) {
    await revokeConsent(ctx, id);
    return { isSuccess: true };
  },
};
