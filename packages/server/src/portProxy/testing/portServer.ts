import Fastify from 'fastify';
import { guardPortHosts, hideUrlsOfPorts } from '../../containerAccess/hosts.ts';
import type { Context } from '../../context.ts';
import { PORT_PROXY_LIMITS, type PortProxyLimits } from '../limits.ts';
import { createPortProxy } from '../proxy.ts';

/** The hosts of ports alone, with other limits than the platform has. */
export async function startPortServer(
  ctx: Context,
  limits: Partial<PortProxyLimits>,
): Promise<{ url: string; close(): Promise<void> }> {
  const app = Fastify({ rewriteUrl: hideUrlsOfPorts(ctx.config), forceCloseConnections: true });
  guardPortHosts(app, ctx, createPortProxy(app, ctx, { ...PORT_PROXY_LIMITS, ...limits }));
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
}
