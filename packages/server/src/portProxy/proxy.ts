import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findPublicPort, type PortAccess } from '../containerAccess/accessibleContainer.ts';
import { hostOf, originOf, type PortTarget } from '../containerAccess/address.ts';
import { passesFromCookies } from '../containerAccess/exchange.ts';
import type { PortProxy } from '../containerAccess/hosts.ts';
import { mayUseCookie } from '../containerAccess/navigation.ts';
import { authorizePass } from '../containerAccess/pass.ts';
import { authorizeToken, tokenFromHeaders } from '../containerAccess/token.ts';
import type { Context } from '../context.ts';
import { markProxied } from '../http/portRequests.ts';
import { logRefusedRequest } from '../http/refusalLog.ts';
import { asPerson, asStranger } from '../slots/holder.ts';
import { leastRate } from '../slots/leastRate.ts';
import { createIdleWatch, type Exchange, endWithPage } from './exchange.ts';
import { forward, type Passing } from './forward.ts';
import { createGrants, type Grant } from './grants.ts';
import { createAdmissions, PORT_PROXY_LIMITS, type PortProxyLimits } from './limits.ts';
import { portPage, RefusedPort, refusedPort } from './pages.ts';
import { PortAgent, SingleUseAgent } from './portAgent.ts';
import { forwardWebSocket } from './webSocket.ts';

/** An unresponsive one may have come back: its daemon says. */
const MAY_ANSWER: readonly PortAccess['status'][] = ['running', 'stopping', 'unresponsive'];

/** Passes requests to the hosts of ports on to the containers, over streams to their daemons. */
export function createPortProxy(
  app: FastifyInstance,
  ctx: Context,
  limits: PortProxyLimits = PORT_PROXY_LIMITS,
): PortProxy {
  const grants = createGrants(ctx);
  const admissions = createAdmissions(limits);
  const idle = createIdleWatch();
  const open = new Set<Exchange>();
  const openPort = ({ instanceId, containerId, port }: PortAccess) =>
    ctx.streams.open(instanceId, { kind: 'port', containerId, port });
  const agents = { reusing: new PortAgent(openPort), single: new SingleUseAgent(openPort) };
  /** What the sockets of upgrades have received behind their request. */
  const heads = new WeakMap<IncomingMessage, Buffer>();
  app.server.prependListener('upgrade', (request: IncomingMessage, _socket: unknown, head: Buffer) => {
    heads.set(request, head);
  });
  app.addHook('preClose', async () => {
    for (const exchange of open) exchange.cut(new RefusedPort('unavailable', { retryAfter: 2 }));
  });
  app.addHook('onClose', async () => {
    grants.stop();
    idle.stop();
    agents.reusing.destroy();
    agents.single.destroy();
  });

  return {
    async serve(place, request, reply) {
      const head = heads.get(request.raw);
      const grant = await grantFor(place, request, head !== undefined);
      if (!grant) return 'sign in';
      if (!MAY_ANSWER.includes(grant.access.status)) throw new RefusedPort('stopped');
      const { userId, containerId } = grant.access;
      const visitor = userId === null ? asStranger(request.ip) : asPerson(userId, null);
      const release = await admissions.admit(containerId, visitor);
      ctx.meters.portsOpen(admissions.open);
      void reply.hijack();
      markProxied(request.raw);
      request.raw.url = request.originalUrl;
      pass(place, request, reply, grant, head)
        .catch((error: unknown) => endWithPage(request.raw, reply.raw, error))
        .finally(() => {
          release();
          ctx.meters.portsOpen(admissions.open);
        });
      return 'answered';
    },

    refuse(request, reply, error) {
      const refusal = refusedPort(error);
      if (refusal.kind === 'unavailable') request.log.warn({ err: error }, 'a port cannot be served now');
      const { status, headers, body } = portPage(refusal, request.raw);
      if (refusal.kind === 'forbidden') logRefusedRequest(request, { status, reason: refusal.kind });
      return reply.status(status).headers(headers).send(body);
    },
  };

  /** What the request shows opens the port, or it is open to everybody. */
  async function grantFor(place: PortTarget, request: FastifyRequest, isWebSocket: boolean): Promise<Grant | null> {
    const at = `${place.slug}-${place.port}`;
    const shown = await grantOfVisitor(place, at, request, isWebSocket).catch((error: unknown) => refusedPort(error));
    if (shown && !(shown instanceof RefusedPort)) return shown;
    const anybody = await grants.find(at, () => findPublicPort(ctx.db, place));
    if (!anybody && shown) throw shown;
    return anybody;
  }

  async function grantOfVisitor(
    place: PortTarget,
    at: string,
    request: FastifyRequest,
    isWebSocket: boolean,
  ): Promise<Grant | null> {
    const token = tokenFromHeaders(request.headers);
    if (token !== null) {
      const { ip } = request;
      return grants.find(`${at} ${token}`, () => authorizeToken(ctx, place, { token, ip }));
    }
    for (const pass of passesFromCookies(ctx, request.headers.cookie)) {
      const grant = await grants.find(`${at} ${pass}`, () => authorizePass(ctx, place, pass));
      if (!grant) continue;
      const { appsDomain } = ctx.config;
      if (!appsDomain || !mayUseCookie(request, originOf(place, appsDomain), isWebSocket))
        throw new RefusedPort('elsewhere');
      return grant;
    }
    return null;
  }

  async function pass(
    place: PortTarget,
    request: FastifyRequest,
    reply: FastifyReply,
    grant: Grant,
    head: Buffer | undefined,
  ): Promise<void> {
    const { raw } = request;
    const response = reply.raw;
    const { socket } = raw;
    const ended = new AbortController();
    const begunAt = performance.now();
    const exchange: Exchange = {
      idleMs: limits.firstByteMs,
      cut(error) {
        endWithPage(raw, response, error);
        ended.abort();
      },
    };
    const unwatch = idle.watch(exchange, socket);
    const cutSlow = (): void => exchange.cut(new RefusedPort('slow'));
    const unrate = head === undefined ? leastRate.watchRequest(raw, response, cutSlow, { isEndless: true }) : () => {};
    const unhold = grant.hold(() => exchange.cut(new RefusedPort('forbidden')));
    const leave = (): void => ended.abort();
    socket.once('close', leave);
    open.add(exchange);
    try {
      const passing = passingOf(place, request, reply, grant.access, {
        ended: ended.signal,
        onAnswer: () => {
          exchange.idleMs = head === undefined ? limits.idleMs : limits.webSocketIdleMs;
        },
      });
      await (head === undefined ? forward(passing) : forwardWebSocket(passing, head));
    } finally {
      unwatch();
      unrate();
      unhold();
      socket.off('close', leave);
      open.delete(exchange);
      ctx.meters.portAnswered(response.statusCode, (performance.now() - begunAt) / 1000);
    }
    if (!raw.complete && head === undefined) endLater(raw);
  }

  function passingOf(
    place: PortTarget,
    request: FastifyRequest,
    reply: FastifyReply,
    target: PortAccess,
    more: Pick<Passing, 'ended' | 'onAnswer'>,
  ): Passing {
    const domain = ctx.config.appsDomain!;
    return {
      request: request.raw,
      response: reply.raw,
      target,
      agents,
      host: hostOf(place, domain),
      protocol: domain.protocol.slice(0, -1),
      ip: request.ip,
      ...more,
    };
  }

  /** Answered before all of the body was sent: a client that is cut off while it sends may not read the answer. */
  function endLater(raw: IncomingMessage): void {
    const { socket } = raw;
    const timer = setTimeout(() => socket.destroy(), limits.lingerMs);
    raw.once('close', () => clearTimeout(timer));
    socket.once('close', () => clearTimeout(timer));
  }
}
