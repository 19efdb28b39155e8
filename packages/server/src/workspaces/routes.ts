import type { api } from '@stagi/contract/api.ts';
import { ROLE_PERMISSIONS, ROLES } from '@stagi/contract/permissions.ts';
import { recordAct } from '../audit/record.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { coversRole, mayManageMembers } from '../memberships/roles.ts';
import { changeRole, removeMember } from './changeMember.ts';
import { createWorkspace } from './create.ts';
import { listMembers } from './members.ts';
import { presentMember } from './present.ts';
import { renameWorkspace } from './rename.ts';

export const clientHandlers: HandlersOf<typeof api.clients> = {
  async create(ctx, { name }) {
    const entity = await createWorkspace(ctx, name);
    const object = { type: 'client', id: String(entity.clientId), label: entity.clientName };
    await recordAct(
      ctx.db,
      { ...ctx, workspace: { id: entity.clientId } },
      { action: 'client/create', outcome: 'done', object },
    );
    return { isSuccess: true, entity };
  },
  async edit(ctx, input) {
    return { isSuccess: true, entity: await renameWorkspace(ctx, input) };
  },
  async leave(ctx) {
    await removeMember(ctx, { userId: ctx.user.id });
    return { isSuccess: true };
  },
  async roles({ workspace }) {
    const entities = ROLES.map((roleName) => ({
      roleName,
      permissions: [...ROLE_PERMISSIONS[roleName]],
      grantable: mayManageMembers(workspace.role) && coversRole(workspace.role, roleName),
    }));
    return { isSuccess: true, entities, totalPages: 1, totalCount: entities.length };
  },
  async members(ctx, { entityFilterRequest, roles }) {
    const { rows, count, isMore } = await listMembers(ctx.db, ctx.workspace.id, entityFilterRequest, roles);
    const viewer = { userId: ctx.user.id, role: ctx.workspace.role };
    return pageOf(
      rows.map((row) => presentMember(row, viewer)),
      count,
      entityFilterRequest,
      isMore,
    );
  },
  async editMember(ctx, input) {
    return { isSuccess: true, entity: await changeRole(ctx, input) };
  },
  async removeMember(ctx, input) {
    await removeMember(ctx, input);
    return { isSuccess: true };
  },
};
