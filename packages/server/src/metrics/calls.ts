import { API_PREFIX } from '@stagi/contract/call.ts';
import type { FastifyInstance } from 'fastify';
import type { Meters } from './meters.ts';

const EVENTS = `${API_PREFIX}events`;

/** Counts every answer and how long it took; streams last as long as somebody watches and are left out. */
export function measureCalls(app: FastifyInstance, meters: Meters): void {
  app.addHook('onResponse', async (request, reply) => {
    if (request.ws || request.routeOptions.url === EVENTS) return;
    meters.called(request.routeOptions.url ?? 'unknown', reply.statusCode, reply.elapsedTime / 1000);
  });
}
