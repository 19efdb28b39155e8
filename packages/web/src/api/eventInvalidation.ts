import type { WorkspaceEvent } from '@stagi/contract/events.ts';

/** The calls whose answers an event may have changed, by the beginning of their path. */
const CHANGES: Record<WorkspaceEvent['entity'], readonly string[]> = {
  // Running servers change the balance.
  'instance-rented': ['instance-rented/', 'billing/', 'getting-started/', 'project/instance/list', 'task/form'],
  'self-hosted-instance': ['self-hosted-instance/', 'getting-started/', 'project/instance/list', 'task/form'],
  'docker-container': [
    'docker-container/',
    'instance-rented/list',
    'self-hosted-instance/list',
    'getting-started/',
    'project/view',
    'project/deletion/view',
    'model/endpoint/',
  ],
  model: ['model/endpoint/'],
  // Its size changes what is spent.
  storage: ['storage/', 'billing/', 'task/form', 'task/view', 'task/output/'],
  // Its servers and containers are shown on its pages; what it holds counts to the plan.
  project: ['project/', 'docker-container/list', 'task/form'],
  task: ['task/'],
  'ssh-key': ['ssh-key/', 'instance-rented/ssh-key/', 'getting-started/'],
  balance: ['billing/', 'v2/billing/'],
  hardware: ['hardware/'],
  client: ['user/profile', 'client/'],
};

/** Whether a stored answer, known by its query key, may be out of date after an event. */
export function isAffectedBy(event: WorkspaceEvent, [path, input]: readonly unknown[]): boolean {
  if (typeof path !== 'string' || !CHANGES[event.entity].some((prefix) => path.startsWith(prefix))) return false;
  const viewed = path.startsWith(`${event.entity}/`) ? subjectOf(event.entity, path, input) : undefined;
  return viewed === undefined || event.id === null || viewed === event.id;
}

/** The id of the one thing that an answer is about. Everything below a project is about it: its code, its servers. */
function subjectOf(entity: WorkspaceEvent['entity'], path: string, input: unknown): number | undefined {
  const { id, projectRef } = (input ?? {}) as { id?: number; projectRef?: { id?: number } };
  if (entity === 'project') return id ?? projectRef?.id;
  const isOfOne = path === `${entity}/view` || path.startsWith('task/output/');
  return isOfOne ? id : undefined;
}

/** Every path prefix that events announce changes of. */
const everything = [...new Set(Object.values(CHANGES).flat())];

/** Whether events announce changes in the answers of this call. */
export function hasEvents(path: string): boolean {
  return everything.some((prefix) => path.startsWith(prefix));
}
