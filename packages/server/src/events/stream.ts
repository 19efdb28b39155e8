import type { EventMessage, WorkspaceEvent } from '@stagi/contract/events.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Bus, Topics } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { mountStream } from '../sessions/stream.ts';

const BUFFER_MAX_BYTES = 256 * 1024;
/** A page reads first and then opens its stream, which begins with the events of this time. */
const RECENT_MS = 10_000;
const RECENT_MAX = 10_000;

/** The permissions, of which a member needs one, to get events of each entity. */
const VIEWERS: Record<WorkspaceEvent['entity'], readonly Permission[] | null> = {
  'instance-rented': ['INSTANCE_RENTED', 'INSTANCE_RENTED_MANAGEMENT'],
  'self-hosted-instance': ['SELFHOSTED_INSTANCE', 'SELFHOSTED_INSTANCE_MANAGEMENT'],
  'docker-container': ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT'],
  model: ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT'],
  storage: ['INSTANCE_RENTED_MANAGEMENT'],
  project: ['PROJECT', 'PROJECT_MANAGEMENT'],
  task: ['RUNNING_TASKS'],
  hardware: ['INSTANCE_RENTED_MANAGEMENT'],
  'ssh-key': null,
  balance: null,
  client: null,
};

/** `WS /frontend-api/events`: hints that something of the workspace changed. */
export function mountEvents(app: FastifyInstance, ctx: Context): void {
  const recentIn = keepRecent(ctx.bus);
  mountStream<object, readonly Permission[], EventMessage>(app, ctx, 'events', {
    query: z.object({}),
    authorize: async ({ workspace }) => workspace.permissions,
    bufferMaxBytes: BUFFER_MAX_BYTES,
    serve({ owner, send }, permissions) {
      const pass = ({ workspaceId, entity, id }: Change): void => {
        if (workspaceId !== owner.workspace.id) return;
        const wanted = VIEWERS[entity];
        if (!wanted || holdsAny(permissions(), wanted)) send({ type: 'changed', entity, id });
      };
      for (const change of recentIn(owner.workspace.id)) pass(change);
      return { stop: ctx.bus.subscribe('changed', pass) };
    },
  });
}

type Change = Topics['changed'];

/** The latest changes of a workspace, each thing once. */
function keepRecent(bus: Bus): (workspaceId: number) => Change[] {
  const recent = new Map<string, { at: number; change: Change }>();
  bus.subscribe('changed', (change) => {
    const key = `${change.workspaceId} ${change.entity} ${change.id}`;
    recent.delete(key);
    recent.set(key, { at: Date.now(), change });
    for (const [oldest, { at }] of recent) {
      if (recent.size <= RECENT_MAX && at > Date.now() - RECENT_MS) break;
      recent.delete(oldest);
    }
  });
  return (workspaceId) =>
    [...recent.values()].flatMap(({ at, change }) =>
      change.workspaceId === workspaceId && at > Date.now() - RECENT_MS ? change : [],
    );
}
