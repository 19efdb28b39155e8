import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isOfDomain } from '../containerAccess/address.ts';
import type { Context } from '../context.ts';
import type { PublicError } from '../http/errors.ts';
import { createHostRefusal, namesOf } from '../http/hostCheck.ts';
import { createHostReader, nameOf } from '../http/hostOf.ts';

/** The refusal of a request to a host that a listener does not answer for; null for its own. */
export type MisdirectedCheck = (request: IncomingMessage) => PublicError | null;

/** Probes come by address, and their answers tell nothing. */
const PROBES = ['/healthz', '/readyz'];

/** The web app, its API and what else is behind its port. */
export function webHosts(ctx: Context): MisdirectedCheck {
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
export function daemonHosts(ctx: Context): MisdirectedCheck {
  return checkOf(ctx, (host, { socket }) => {
    // The gateway of the local cloud is known only once Docker answers. Machines that were rented before it had another
    // origin know its address, and no name resolves to an address.
    const own = socket.localAddress?.replace(/^::ffff:/, '');
    return namesOf(ctx.daemonOrigin).includes(nameOf(host)) || nameOf(host) === own;
  });
}

/** Hooks see only requests whose address can be read; for the others see `frameworkErrors`. */
export function answerOnly(app: FastifyInstance, refusalOf: MisdirectedCheck): void {
  app.addHook('onRequest', async ({ raw }) => {
    const refusal = refusalOf(raw);
    if (refusal) throw refusal;
  });
}

function checkOf(ctx: Context, isOurs: (host: string, request: IncomingMessage) => boolean): MisdirectedCheck {
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
