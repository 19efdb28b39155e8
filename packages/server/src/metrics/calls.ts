import { API_PREFIX } from '@stagi/contract/call.ts';
import type { FastifyInstance } from 'fastify';
import type { Meters } from './meters.ts';

const EVENTS = `${API_PREFIX}events`;

/** Counts every answer and how long it took; streams last as long as somebody watches and are left out. */
export function measureCalls(app: FastifyInstance, meters: Meters): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { url = 'unknown' } = request.routeOptions;
    if (!request.ws && url !== EVENTS) {
      meters.called(url, reply.statusCode, reply.elapsedTime / 1000);
      request.log.debug({ call: url, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'answered');
    }
    done();
  });
}
