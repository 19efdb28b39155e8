import { API_PREFIX } from '@stagi/contract/call.ts';
import type { FastifyInstance } from 'fastify';
import { isProxied } from '../http/portRequests.ts';
import type { MetricsRecorder } from './recorder.ts';

const EVENTS = `${API_PREFIX}events`;

/** Counts and times every answer, except those of streams and of containers. */
export function measureCalls(app: FastifyInstance, meters: MetricsRecorder): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { url = 'unknown' } = request.routeOptions;
    if (!request.ws && url !== EVENTS && !isProxied(request.raw)) {
      meters.callAnswered(url, reply.statusCode, reply.elapsedTime / 1000);
      request.log.debug({ call: url, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'answered');
    }
    done();
  });
}
