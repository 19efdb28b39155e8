import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { ListAddress } from '../../../lists/listAddress.ts';
import { idIn } from '../../../paths.ts';

/** The page's own filters, by their names in the address. */
export const TASK_FILTERS = { server: 'server', favorites: 'favorites', schedule: 'schedule' } as const;

/** What the list of a project's tasks asks for, by its address. What is no id there counts as not asked. */
export function tasksInput(address: ListAddress, projectId: number): InputOf<typeof api.tasks.list> {
  const instanceId = idIn(address.filter(TASK_FILTERS.server));
  return {
    projectRef: { id: projectId },
    instanceRef: instanceId === null ? undefined : { id: instanceId },
    scheduleId: idIn(address.filter(TASK_FILTERS.schedule)) ?? undefined,
    favorites: address.filter(TASK_FILTERS.favorites) === '1',
    entityFilterRequest: address.request,
  };
}
