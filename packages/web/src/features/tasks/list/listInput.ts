import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { ListAddress } from '../../../lists/listAddress.ts';

/** The page's own filters, by their names in the address. */
export const TASK_FILTERS = { server: 'server', favorites: 'favorites', schedule: 'schedule' } as const;

/** What the list of a project's tasks asks for, by its address. */
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

/** A word of the address that is no id counts as not asked. */
export const idIn = (word: string): number | null => (/^[1-9]\d{0,14}$/.test(word) ? Number(word) : null);
