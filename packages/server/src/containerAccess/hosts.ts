import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppsDomain } from '../config/appsDomain.ts';
import type { Context } from '../context.ts';
import { held, notFound, unauthenticated } from '../http/errors.ts';
import { createHostReader } from '../http/hostOf.ts';
import { startAccessRequest } from './accessRequest.ts';
import { isOfDomain, originOf, type PortTarget, targetOfHost } from './address.ts';
import { ENTER_PATH } from './code.ts';
import { exchangeCode } from './exchange.ts';
import { opensPage } from './navigation.ts';

/** Serves authorized requests to ports of containers. */
export interface PortProxy {
  /** Answers the request; `sign in` where it shows nothing that opens the port. Throws PublicError to refuse it. */
  serve(place: PortTarget, request: FastifyRequest, reply: FastifyReply): Promise<'answered' | 'sign in'>;
  /** Answers with a plain page of the platform. */
  refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply;
}

/** Requests to ports are no routes of the platform: a container may have paths that the router could not read. */
export function hideUrlsOfPorts(config: Context['config']): (request: IncomingMessage) => string {
  const { appsDomain } = config;
  const hostOf = createHostReader(config);
  return (request) => (appsDomain && isOfDomain(hostOf(request), appsDomain) ? '/' : (request.url ?? '/'));
}

/**
 * Answers every request to the hosts of ports before any page or call of the platform, and before a body is read:
 * exchanges a code for a cookie, redirects to the access page, or passes the request on to the port.
 */
export function guardPortHosts(app: FastifyInstance, ctx: Context, proxy: PortProxy): void {
  const { appsDomain } = ctx.config;
  if (!appsDomain) return;
  const hostOf = createHostReader(ctx.config);
  app.addHook('onRequest', async (request, reply) => {
    const host = hostOf(request.raw);
    if (!isOfDomain(host, appsDomain)) return;
    try {
      return await answer(ctx, appsDomain, host, proxy, request, reply);
    } catch (error) {
      return proxy.refuse(request, reply, error);
    }
  });
}

async function answer(
  ctx: Context,
  domain: AppsDomain,
  host: string,
  proxy: PortProxy,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (ctx.heldSince) throw held();
  const place = targetOfHost(host, domain);
  if (!place) throw notFound();
  const { originalUrl } = request;
  const asked = originOf(place, domain) + originalUrl;
  if (!originalUrl.startsWith('/') || !URL.canParse(asked)) throw notFound();
  const url = new URL(asked);
  if (url.pathname === ENTER_PATH) return enter(ctx, domain, place, url, request, reply);
  if ((await proxy.serve(place, request, reply)) === 'answered') return reply;
  if (!opensPage(request)) throw unauthenticated();
  const wanted = originOf(place, domain) + url.pathname + url.search;
  const { state, setCookie } = startAccessRequest(ctx.config, request.headers.cookie);
  return reply
    .header('cache-control', 'no-store')
    .header('set-cookie', setCookie)
    .redirect(accessPage(ctx, place, { returnUrl: wanted, trip: state }));
}

/** An invalid code leads back to the access page, which says so and does not retry. */
async function enter(
  ctx: Context,
  domain: AppsDomain,
  place: PortTarget,
  url: URL,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  void reply.header('cache-control', 'no-store');
  const entrance = await exchangeCode(ctx, place, url.searchParams.get('code') ?? '', request.headers.cookie);
  if (!entrance)
    return reply.redirect(accessPage(ctx, place, { returnUrl: `${originOf(place, domain)}/`, failed: '1' }));
  // Not the cookies: the pass is among them.
  if (entrance.clearsSite) void reply.header('clear-site-data', '"cache", "storage"');
  return reply.header('set-cookie', entrance.setCookies).redirect(entrance.location, 303);
}

function accessPage({ config }: Context, { slug }: PortTarget, query: Record<string, string>): string {
  return `${config.appOrigin}/container-auth/${slug}?${new URLSearchParams(query)}`;
}
