import type { api } from '@stagi/contract/api.ts';
import { editPorts } from '../containers/editPorts.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { issuePortCode } from './code.ts';

export const containerAccessHandlers: HandlersOf<typeof api.containerAccess> = {
  async enter(ctx, input) {
    return { isSuccess: true, link: await issuePortCode(ctx, input) };
  },
  async editPorts(ctx, { ref, portMappings }) {
    return { isSuccess: true, entity: await editPorts(ctx, ref, portMappings) };
  },
};
