import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isOfDomain } from '../containerAccess/address.ts';
import type { Context } from '../context.ts';
import type { PublicError } from '../http/errors.ts';
import { createHostReader, nameOf } from '../http/hostOf.ts';
import { createHostRefusal, namesOf } from '../http/hostRefusal.ts';

/** The refusal of a request to a host that a listener does not answer for; null for its own. */
export type HostCheck = (request: IncomingMessage) => PublicError | null;

/** Probes come by address, and their answers tell nothing. */
const PROBES = ['/healthz', '/readyz'];

/** The web app, its API and what else is behind its port. */
export function webHostCheck(ctx: Context): HostCheck {
  const { appOrigin, contentOrigin, appsDomain } = ctx.config;
  const app = new URL(appOrigin).host;
  const names = new Set(namesOf(appOrigin));
  // With its port, by which it is told from the app: that must not answer at the origin of what users made.
  const content = new URL(contentOrigin);
  return checkOf(
    ctx,
    (host) =>
      host === app ||
      host === content.host ||
      (names.has(nameOf(host)) && nameOf(host) !== content.hostname) ||
      nameOf(host) === new URL(ctx.daemonOrigin).hostname ||
      (appsDomain !== null && isOfDomain(host, appsDomain)),
  );
}

/** The daemon's calls alone, on the network of rented machines. */
export function daemonHostCheck(ctx: Context): HostCheck {
  return checkOf(ctx, (host, { socket }) => {
    // Servers that were rented before DAEMON_ORIGIN was set know the listener by its address. An address cannot be
    // rebound as a name can.
    const own = socket.localAddress?.replace(/^::ffff:/, '');
    return namesOf(ctx.daemonOrigin).includes(nameOf(host)) || nameOf(host) === own;
  });
}

/** Hooks see only requests whose address can be read; for the others see `frameworkErrors`. */
export function refuseForeignHosts(app: FastifyInstance, refusalOf: HostCheck): void {
  app.addHook('onRequest', async ({ raw }) => {
    const refusal = refusalOf(raw);
    if (refusal) throw refusal;
  });
}

function checkOf(ctx: Context, isOurs: (host: string, request: IncomingMessage) => boolean): HostCheck {
  const { allowedHosts } = ctx.config;
  const hostOf = createHostReader(ctx.config);
  const refusalOf = createHostRefusal(ctx);
  return (request) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (PROBES.includes(path)) return null;
    const host = hostOf(request);
    return allowedHosts.includes(nameOf(host)) || isOurs(host, request) ? null : refusalOf(host);
  };
}
