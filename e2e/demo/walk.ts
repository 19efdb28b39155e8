import type { Furnished } from './furnish.ts';
import type { Tasks } from './tasks.ts';

/** The addresses of all pages of the demo, with their tabs and forms. */
export function walkOf({ servers, containers, storages, projects }: Furnished, tasks: Tasks): string[] {
  const under = (path: string, ...tabs: string[]) => tabs.map((tab) => path + tab);
  const server = ['', '/containers', '/images', '/metrics', '/activities'];
  return [
    '/models',
    '/cloud/marketplace',
    '/cloud/instances',
    ...[servers.training, servers.inference, servers.experiments].flatMap((id) =>
      under(`/cloud/instances/${id}`, ...server, '/access'),
    ),
    '/cloud/self-instances',
    '/cloud/self-instances?new=1',
    ...under(`/cloud/self-instances/${servers.workstation}`, ...server),
    '/cloud/containers',
    '/cloud/containers?new=1',
    ...Object.values(containers).flatMap((id) => under(`/cloud/containers/${id}`, '', '/logs', '/metrics', '/edit')),
    ...Object.values(tasks.runs).flatMap((id) => under(`/cloud/containers/${id}`, '', '/logs')),
    '/cloud/storages',
    '/cloud/storages?new=1',
    ...Object.values(storages).flatMap((id) =>
      under(`/cloud/storages/${id}`, '', '/objects', '/objects?prefix=welds%2F', '/keys'),
    ),
    ...under(`/cloud/storages/${storages.datasets}/objects`, '?prefix=welds%2Fpictures%2F', '?prefix=manuals%2F'),
    `/cloud/storages/${storages.checkpoints}/objects?prefix=assistant%2F`,
    '/projects',
    '/projects?new=1',
    ...Object.values(projects).flatMap((id) =>
      under(
        `/projects/${id}`,
        '/code/tree',
        '/commits/main',
        '/instances',
        '/containers',
        '/tasks',
        '/activity',
        '/settings',
      ),
    ),
    ...[tasks.evaluated, tasks.trained, tasks.failed, tasks.training, tasks.queued].flatMap((id) =>
      under(`/projects/tasks/${id}`, '', '/output', '/metrics'),
    ),
    `/projects/tasks/${tasks.evaluated}/output?prefix=plots%2F`,
    ...[tasks.evaluated, tasks.trained, tasks.failed, tasks.training].map(
      (id) => `/projects/${projects.inspector}/tasks/logs/${id}/run-1`,
    ),
    '/projects/tasks/create',
    `/projects/tasks/create?project=${projects.inspector}`,
    '/profile/account',
    '/profile/account/security',
    '/profile/account/sessions',
    '/profile/tokens',
    '/profile/tokens/archive',
    '/profile/team',
    '/profile/team/invites',
    '/profile/team/audit',
    '/profile/usage',
    '/profile/balance',
    '/profile/ssh',
  ];
}
