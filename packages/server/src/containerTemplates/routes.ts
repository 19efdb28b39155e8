import type { api } from '@stagi/contract/api.ts';
import { PLATFORM_TEMPLATES } from '@stagi/contract/platformTemplates.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { createTemplate, deleteTemplate } from './change.ts';
import { listTemplates, presentTemplate } from './queries.ts';

export const containerTemplateHandlers: HandlersOf<typeof api.containerTemplates> = {
  async list(ctx) {
    const rows = await listTemplates(ctx.db, ctx.workspace.id);
    return { isSuccess: true, entities: rows.map(presentTemplate), platform: [...PLATFORM_TEMPLATES] };
  },
  async create(ctx, input) {
    return { isSuccess: true, entity: await createTemplate(ctx, input) };
  },
  async delete(ctx, { id }) {
    await deleteTemplate(ctx, id);
    return { isSuccess: true };
  },
};
