import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { addKey, deleteKey, generateKey } from './change.ts';
import { listKeys, presentKey } from './queries.ts';

export const sshKeyHandlers: HandlersOf<typeof api.sshKeys> = {
  async list(ctx, { entityFilterRequest }) {
    const { rows, count } = await listKeys(ctx.db, ctx.user.id, entityFilterRequest);
    return pageOf(rows.map(presentKey), count, entityFilterRequest);
  },
  async add(ctx, input) {
    return { isSuccess: true, entity: await addKey(ctx, input) };
  },
  async generate(ctx, input) {
    return { isSuccess: true, ...(await generateKey(ctx, input)) };
  },
  async delete(ctx, { id }) {
    await deleteKey(ctx, id);
    return { isSuccess: true };
  },
};
