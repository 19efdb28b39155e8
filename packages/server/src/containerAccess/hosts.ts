import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { notFound, unauthenticated } from '../http/errors.ts';
import { originOf, type PortPlace, placeOfHost } from './address.ts';
import { ENTER_PATH } from './code.ts';
import type { AppsDomain } from './domain.ts';
import { exchangeCode, shownPass } from './exchange.ts';
import { admitted } from './pass.ts';
import { beginTrip } from './trip.ts';

/**
 * Answers everything that comes for the hosts of ports, before any page or call of the platform could: a code becomes a
 * cookie, who shows none is sent to the access page. What lies behind is for the port proxy to serve.
 */
export function guardPortHosts(app: FastifyInstance, ctx: Context): void {
  const { appsDomain } = ctx.config;
  if (!appsDomain) return;
  app.addHook('onRequest', async (request, reply) => {
    if (!isOfDomain(request.host, appsDomain)) return;
    const place = placeOfHost(request.host, appsDomain);
    if (!place) throw notFound();
    const asked = originOf(place, appsDomain) + request.url;
    if (!request.url.startsWith('/') || !URL.canParse(asked)) throw notFound();
    const url = new URL(asked);
    void reply.header('cache-control', 'no-store');
    if (url.pathname === ENTER_PATH) return enter(ctx, appsDomain, place, url, request, reply);
    const shown = shownPass(ctx, request.headers.cookie);
    if (shown !== null && (await admitted(ctx, place, shown))) throw notFound();
    if (!opensPage(request)) throw unauthenticated();
    const wanted = originOf(place, appsDomain) + url.pathname + url.search;
    const trip = beginTrip(ctx.config, request.headers.cookie);
    return reply
      .header('set-cookie', trip.setCookie)
      .redirect(accessPage(ctx, place, { returnUrl: wanted, trip: trip.state }));
  });
}

/** A code that opens nothing leads back to the access page, which says so instead of trying for ever. */
async function enter(
  ctx: Context,
  domain: AppsDomain,
  place: PortPlace,
  url: URL,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const entrance = await exchangeCode(ctx, place, url.searchParams.get('code') ?? '', request.headers.cookie);
  if (!entrance)
    return reply.redirect(accessPage(ctx, place, { returnUrl: `${originOf(place, domain)}/`, failed: '1' }));
  return reply.header('set-cookie', entrance.setCookies).redirect(entrance.location, 303);
}

function accessPage({ config }: Context, { slug }: PortPlace, query: Record<string, string>): string {
  return `${config.appOrigin}/container-auth/${slug}?${new URLSearchParams(query)}`;
}

const isOfDomain = (host: string, domain: AppsDomain): boolean =>
  host.toLowerCase() === domain.host || host.toLowerCase().endsWith(`.${domain.host}`);

/** A page that is opened, not something that a page asks for: only that can be sent elsewhere to log in. */
const opensPage = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html');
