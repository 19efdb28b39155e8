import { randomUUID } from 'node:crypto';
import { compile } from '@fastify/proxy-addr';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import type { Config } from '../config/config.ts';

const HEADER = 'x-request-id';
const SHAPE = /^[\w.:-]{8,100}$/;

type RequestId = NonNullable<FastifyServerOptions['genReqId']>;

/** A request's id: that of a trusted proxy, else a new one. Ids that other clients send are ignored. */
export function requestId(trustProxy: Config['trustProxy']): RequestId {
  const isTrusted = trusted(trustProxy);
  return ({ headers, socket }) => {
    const given = headers[HEADER];
    const isGood = typeof given === 'string' && SHAPE.test(given) && isTrusted(socket?.remoteAddress ?? '', 0);
    return isGood ? given : randomUUID();
  };
}

function trusted(trustProxy: Config['trustProxy']): (address: string, hop: number) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  return compile(trustProxy.split(',').map((address) => address.trim()));
}

/** Sends the request's id with every answer, so that a report of a fault can name it. */
export function sendRequestId(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(HEADER, request.id);
    done();
  });
}
