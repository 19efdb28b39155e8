import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { addCredential, removeCredential } from './change.ts';
import { listCredentials } from './queries.ts';

export const registryHandlers: HandlersOf<typeof api.registries> = {
  async list(ctx) {
    return { isSuccess: true, entities: await listCredentials(ctx.db, ctx.workspace.id) };
  },
  async add(ctx, input) {
    return { isSuccess: true, entity: await addCredential(ctx, input) };
  },
  async remove(ctx, { id }) {
    await removeCredential(ctx, id);
    return { isSuccess: true };
  },
};
