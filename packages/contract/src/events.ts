import { z } from 'zod';
import { Id } from './page.ts';

/**
 * `GET /frontend-api/events?ticket=…` (server-sent events): an entity of the workspace changed, fetch it again. Only
 * what the member may view. Events are hints: polling finds the same.
 */
export const WorkspaceEvent = z.object({
  entity: z.enum([
    'instance-rented',
    'self-hosted-instance',
    'docker-container',
    'ssh-key',
    'balance',
    'hardware',
    'client',
  ]),
  id: Id.nullable(),
});
export type WorkspaceEvent = z.infer<typeof WorkspaceEvent>;
