import type { api } from '@stagi/contract/api.ts';
import { notFound } from '../http/errors.ts';
import type { HandlersOf } from '../http/handlers.ts';

/** Until there are projects, none is found. */
const noProject = (): Promise<never> => Promise.reject(notFound());

export const projectCodeHandlers: HandlersOf<typeof api.projectCode> = {
  tree: noProject,
  blob: noProject,
  commit: noProject,
  commits: noProject,
  refs: noProject,
  search: noProject,
  blame: noProject,
};
