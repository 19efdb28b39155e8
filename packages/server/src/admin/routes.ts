import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { presentDeletion } from '../users/deletionPreview.ts';
import { addCredit } from './addCredit.ts';
import { listClients, viewClient } from './clients.ts';
import { deleteUser, viewUserDeletion } from './deleteUser.ts';
import { disableClient, enableClient } from './disableClient.ts';
import { disableUser, enableUser } from './disableUser.ts';
import { editPlan } from './editPlan.ts';
import { viewSystem } from './systemState.ts';
import { listUsers, viewUser } from './users.ts';

export const adminUserHandlers: HandlersOf<typeof api.adminUsers> = {
  async list({ db, user }, { entityFilterRequest, ...narrowed }) {
    const { entities, count, isMore } = await listUsers(db, entityFilterRequest, narrowed, user.id);
    return pageOf(entities, count, entityFilterRequest, isMore);
  },
  async view({ db, user }, { id }) {
    return { isSuccess: true, entity: await viewUser(db, id, user.id) };
  },
  async disable(ctx, input) {
    return { isSuccess: true, entity: await disableUser(ctx, input) };
  },
  async enable(ctx, { id }) {
    return { isSuccess: true, entity: await enableUser(ctx, id) };
  },
  async deletion({ db }, { id }) {
    return { isSuccess: true, ...presentDeletion(await viewUserDeletion(db, id)) };
  },
  async delete(ctx, input) {
    await deleteUser(ctx, input);
    return { isSuccess: true };
  },
};

export const adminClientHandlers: HandlersOf<typeof api.adminClients> = {
  async list(ctx, { entityFilterRequest, plans }) {
    const { entities, count, isMore } = await listClients(ctx, entityFilterRequest, plans);
    return pageOf(entities, count, entityFilterRequest, isMore);
  },
  async view(ctx, { id }) {
    return { isSuccess: true, entity: await viewClient(ctx, id) };
  },
  async disable(ctx, input) {
    return { isSuccess: true, entity: await disableClient(ctx, input) };
  },
  async enable(ctx, { id }) {
    return { isSuccess: true, entity: await enableClient(ctx, id) };
  },
  async editPlan(ctx, input) {
    return { isSuccess: true, entity: await editPlan(ctx, input) };
  },
  async addCredit(ctx, input) {
    return { isSuccess: true, entity: await addCredit(ctx, input) };
  },
};

export const adminSystemHandlers: HandlersOf<typeof api.adminSystem> = {
  async view(ctx) {
    return { isSuccess: true, entity: await viewSystem(ctx) };
  },
};
