import { type TerminalMessage, TerminalQuery } from '@stagi/contract/terminals.ts';
import type { FastifyInstance } from 'fastify';
import { MANAGES, requireManagement, visibleContainer } from '../containers/access.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../http/errors.ts';
import { viewInstance } from '../instances/find.ts';
import { mountStream } from '../sessions/stream.ts';
import type { StreamOwner } from '../sessions/streamTicket.ts';
import { serveTerminal } from './serve.ts';
import type { Place } from './sessions.ts';

interface Admitted {
  place: Place;
  query: TerminalQuery;
}

/** `WS /frontend-api/{docker-container,instance-rented,self-hosted-instance}/{id}/terminal`: see contract/terminals.ts. */
export function mountTerminals(app: FastifyInstance, ctx: Context): void {
  const find: Record<Place['type'], (owner: StreamOwner, id: number) => Promise<Place>> = {
    'docker-container': (owner, id) => managedContainer(ctx, owner, id),
    'instance-rented': (owner, id) => managedServer(ctx, owner, 'rented', id),
    'self-hosted-instance': (owner, id) => managedServer(ctx, owner, 'self-hosted', id),
  };
  for (const [type, placeOf] of Object.entries(find))
    mountStream<TerminalQuery, Admitted, TerminalMessage>(app, ctx, `${type}/:id/terminal`, {
      query: TerminalQuery,
      authorize: async (owner, query) => ({ query, place: await placeOf(owner, query.id) }),
      serve(stream, admitted) {
        const { query, place } = admitted();
        return serveTerminal(ctx, stream, place, query);
      },
    });
}

async function managedContainer(ctx: Context, { workspace }: StreamOwner, id: number): Promise<Place> {
  const viewer = { db: ctx.within(workspace.id), workspace };
  const { slug, instance, task, status } = await visibleContainer(viewer, { id });
  requireManagement(viewer, instance.kind);
  if (task || status === 'deleted') throw notFound();
  return { type: 'docker-container', id, slug, instanceId: instance.id, containerId: id };
}

async function managedServer(
  ctx: Context,
  { workspace }: StreamOwner,
  kind: 'rented' | 'self-hosted',
  id: number,
): Promise<Place> {
  if (!workspace.permissions.includes(MANAGES[kind])) throw forbidden();
  const { slug, closed_at } = await viewInstance(ctx.within(workspace.id), workspace.id, kind, { id });
  if (closed_at) throw notFound();
  const type = kind === 'rented' ? 'instance-rented' : 'self-hosted-instance';
  return { type, id, slug, instanceId: id, containerId: null };
}
