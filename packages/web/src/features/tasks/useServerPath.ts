import type { Task } from '@stagi/contract/tasks.ts';
import { useHasPermission } from '../../api/user.ts';
import { paths } from '../../paths.ts';

/** The page of the server of a task, where the person's role opens it. */
export function useServerPath(): (server: Task['instance']) => string | null {
  const mayOpen = {
    rented: useHasPermission('INSTANCE_RENTED_MANAGEMENT'),
    'self-hosted': useHasPermission('SELFHOSTED_INSTANCE_MANAGEMENT'),
  };
  return (server) => (mayOpen[server.kind] ? paths.server(server, 'containers') : null);
}
