import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { createInvite } from './create.ts';
import { findOpenInvite, inviteUnusable, presentInvitation } from './find.ts';
import { hashOfInvite } from './hash.ts';
import { joinByInvite } from './join.ts';
import { listInvites } from './list.ts';
import { presentInvite } from './present.ts';
import { revokeInvite } from './revoke.ts';
import { seatsOf } from './seats.ts';

export const inviteHandlers: HandlersOf<typeof api.invites> = {
  async create(ctx, input) {
    return { isSuccess: true, ...(await createInvite(ctx, input)) };
  },
  async list(ctx, { entityFilterRequest, roles }) {
    const { rows, count } = await listInvites(ctx.db, ctx.workspace.id, entityFilterRequest, roles);
    const viewer = { userId: ctx.user.id, role: ctx.workspace.role };
    const entities = rows.map((row) => presentInvite(row, viewer));
    return { ...pageOf(entities, count, entityFilterRequest), seats: await seatsOf(ctx.db, ctx.workspace.id) };
  },
  async revoke(ctx, { id }) {
    await revokeInvite(ctx, id);
    return { isSuccess: true };
  },
  async view(ctx, { code }) {
    const invite = await findOpenInvite(ctx.db, hashOfInvite(code));
    if (!invite) throw inviteUnusable();
    return { isSuccess: true, invitation: presentInvitation(invite) };
  },
  async join(ctx, { code }) {
    return { isSuccess: true, ...(await joinByInvite(ctx, code)) };
  },
};
