import type { IncomingMessage } from 'node:http';
import { compile } from '@fastify/proxy-addr';
import type { Config } from '../config/config.ts';

/** Tells whether a request came from one of the proxies in front. */
export function proxyCheck(trustProxy: Config['trustProxy']): (request: IncomingMessage) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  const isTrusted = compile(trustProxy.split(',').map((address) => address.trim()));
  return ({ socket }) => isTrusted(socket?.remoteAddress ?? '', 0);
}
