import type { ServerResponse } from 'node:http';
import { API_PREFIX } from '@stagi/contract/call.ts';
import type { WorkspaceEvent } from '@stagi/contract/events.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { unauthenticated } from '../http/errors.ts';
import { recheckStreamOwner } from '../sessions/recheckStreamOwner.ts';
import { consumeStreamTicket, streamOwner } from '../sessions/streamTicket.ts';

const PING_MS = 15_000;
/** On a shutdown readers are told to reconnect after about this time, spread so that they do not all come at once. */
const RECONNECT_MS = 1_000;
const BUFFER_MAX_BYTES = 256 * 1024;

/** The permissions, of which a member needs one, to get events of each entity. */
const VIEWERS: Record<WorkspaceEvent['entity'], readonly Permission[] | null> = {
  'instance-rented': ['INSTANCE_RENTED', 'INSTANCE_RENTED_MANAGEMENT'],
  'self-hosted-instance': ['SELFHOSTED_INSTANCE', 'SELFHOSTED_INSTANCE_MANAGEMENT'],
  'docker-container': ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT'],
  hardware: ['INSTANCE_RENTED_MANAGEMENT'],
  'ssh-key': null,
  balance: null,
  client: null,
};

/** `GET /frontend-api/events?ticket=…`: hints that something of the workspace changed. */
export function mountEvents(app: FastifyInstance, ctx: Context): void {
  const open = new Set<ServerResponse>();
  app.addHook('preClose', async () => {
    for (const out of open) out.end(`retry: ${RECONNECT_MS}\n\n`);
  });

  app.get<{ Querystring: { ticket?: string } }>(`${API_PREFIX}events`, async (request, reply) => {
    const owner = await consumeStreamTicket(ctx, request.query.ticket ?? '');
    if (!owner) throw unauthenticated();
    let permissions = owner.workspace.permissions;
    reply.hijack();
    const out = reply.raw;
    open.add(out);
    out.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': request.id,
    });
    out.write(': open\n\n');

    const stop = [
      ctx.bus.subscribe('changed', ({ workspaceId, entity, id }) => {
        if (workspaceId !== owner.workspace.id) return;
        const wanted = VIEWERS[entity];
        if (wanted && !holdsAny(permissions, wanted)) return;
        // Backpressure: a reader that is too slow is disconnected; it reconnects and reloads everything.
        if (out.writableLength > BUFFER_MAX_BYTES) out.destroy();
        else out.write(`data: ${JSON.stringify({ entity, id } satisfies WorkspaceEvent)}\n\n`);
      }),
      recheckStreamOwner(ctx, owner, recheck),
    ];
    const ping = setInterval(() => out.write(': ping\n\n'), PING_MS);
    out.on('close', () => {
      open.delete(out);
      for (const end of stop) end();
      clearInterval(ping);
    });

    async function recheck(): Promise<void> {
      const now = await streamOwner(ctx, owner!);
      if (now) permissions = now.workspace.permissions;
      else out.end();
    }
  });
}
