import { randomUUID } from 'node:crypto';
import { compile } from '@fastify/proxy-addr';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import type { Config } from '../config.ts';

const HEADER = 'x-request-id';
const SHAPE = /^[\w.:-]{8,100}$/;

type RequestId = NonNullable<FastifyServerOptions['genReqId']>;

/** The id of a request: the one that a trusted proxy gave it, else a fresh one. What others claim ends in no log. */
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

/** Every answer names its request, so that whoever reports a fault can name it too. */
export function tellRequestId(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(HEADER, request.id);
    done();
  });
}
