import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import type { Config } from '../config/config.ts';
import { proxyCheck } from '../http/trustedProxies.ts';

const HEADER = 'x-request-id';
const SHAPE = /^[\w.:-]{8,100}$/;

type RequestId = NonNullable<FastifyServerOptions['genReqId']>;

/** A request's id: that of a trusted proxy, else a new one. Ids that other clients send are ignored. */
export function requestId(trustProxy: Config['trustProxy']): RequestId {
  const isFromProxy = proxyCheck(trustProxy);
  return (request) => {
    const given = request.headers[HEADER];
    const isGood = typeof given === 'string' && SHAPE.test(given) && isFromProxy(request);
    return isGood ? given : randomUUID();
  };
}

/** Sends the request's id with every answer, so that a report of a fault can name it. */
export function sendRequestId(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(HEADER, request.id);
    done();
  });
}
