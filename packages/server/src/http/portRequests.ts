import type { IncomingMessage } from 'node:http';

const proxied = new WeakSet<IncomingMessage>();

/** Marks a request that is passed on to a container: it is no call, and its body may take its time. */
export const markProxied = (request: IncomingMessage): void => void proxied.add(request);

export const isProxied = (request: IncomingMessage): boolean => proxied.has(request);
