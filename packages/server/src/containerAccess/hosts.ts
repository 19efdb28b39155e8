import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppsDomain } from '../config/appsDomain.ts';
import type { Context } from '../context.ts';
import { notFound, unauthenticated } from '../http/errors.ts';
import { startAccessRequest } from './accessRequest.ts';
import { originOf, type PortTarget, targetOfHost } from './address.ts';
import { ENTER_PATH } from './code.ts';
import { exchangeCode, passFromCookie } from './exchange.ts';
import { authorizePass } from './pass.ts';

/**
 * Answers every request to the hosts of ports before any page or call of the platform: exchanges a code for a cookie and
 * redirects to the access page without one. An authorized request gets 404 until the port proxy exists.
 */
export function guardPortHosts(app: FastifyInstance, ctx: Context): void {
  const { appsDomain } = ctx.config;
  if (!appsDomain) return;
  app.addHook('onRequest', async (request, reply) => {
    if (!isOfDomain(request.host, appsDomain)) return;
    const place = targetOfHost(request.host, appsDomain);
    if (!place) throw notFound();
    const asked = originOf(place, appsDomain) + request.url;
    if (!request.url.startsWith('/') || !URL.canParse(asked)) throw notFound();
    const url = new URL(asked);
    void reply.header('cache-control', 'no-store');
    if (url.pathname === ENTER_PATH) return enter(ctx, appsDomain, place, url, request, reply);
    const pass = passFromCookie(ctx, request.headers.cookie);
    if (pass !== null && (await authorizePass(ctx, place, pass))) throw notFound();
    if (!opensPage(request)) throw unauthenticated();
    const wanted = originOf(place, appsDomain) + url.pathname + url.search;
    const { state, setCookie } = startAccessRequest(ctx.config, request.headers.cookie);
    return reply.header('set-cookie', setCookie).redirect(accessPage(ctx, place, { returnUrl: wanted, trip: state }));
  });
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
  const entrance = await exchangeCode(ctx, place, url.searchParams.get('code') ?? '', request.headers.cookie);
  if (!entrance)
    return reply.redirect(accessPage(ctx, place, { returnUrl: `${originOf(place, domain)}/`, failed: '1' }));
  return reply.header('set-cookie', entrance.setCookies).redirect(entrance.location, 303);
}

function accessPage({ config }: Context, { slug }: PortTarget, query: Record<string, string>): string {
  return `${config.appOrigin}/container-auth/${slug}?${new URLSearchParams(query)}`;
}

const isOfDomain = (host: string, domain: AppsDomain): boolean =>
  host.toLowerCase() === domain.host || host.toLowerCase().endsWith(`.${domain.host}`);

/** Whether the request is a navigation: only that can be redirected to a login. */
const opensPage = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html');
