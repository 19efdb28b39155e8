import { z } from 'zod';
import { Id } from './page.ts';

/** An entity of the workspace has changed: fetch it again. */
export const WorkspaceEvent = z.object({
  entity: z.enum([
    'instance-rented',
    'self-hosted-instance',
    'docker-container',
    'model',
    'storage',
    'project',
    'task',
    'ssh-key',
    'balance',
    'hardware',
    'client',
  ]),
  id: Id.nullable(),
});
export type WorkspaceEvent = z.infer<typeof WorkspaceEvent>;

/**
 * `WS /frontend-api/events?ticket=…`: what the server sends. Only what the member may view. Events are hints: polling
 * finds the same. `streams.ts` says when the server pings and closes.
 */
export const EventMessage = z.discriminatedUnion('type', [
  WorkspaceEvent.extend({ type: z.literal('changed') }),
  z.object({ type: z.literal('ping') }),
]);
export type EventMessage = z.infer<typeof EventMessage>;
