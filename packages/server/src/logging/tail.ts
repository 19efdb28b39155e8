import { API_PREFIX } from '@stagi/contract/call.ts';
import { LogSource, type TailMessage } from '@stagi/contract/logging.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { isLoopback } from '../config/loopback.ts';
import { visibleContainer } from '../containers/access.ts';
import type { Context } from '../context.ts';
import { badInput, forbidden, PublicError, unauthenticated } from '../http/errors.ts';
import { recheckStreamOwner } from '../sessions/recheckStreamOwner.ts';
import { consumeStreamTicket, type StreamOwner, streamOwner } from '../sessions/streamTicket.ts';
import { followLog } from './followLog.ts';

const PING_MS = 15_000;
const SILENCE_TIMEOUT_MS = 40_000;
const CLOSE_CODE_UNAUTHORIZED = 4401;
const CLOSE_TIMEOUT_MS = 1_000;

const TailQuery = z.object({
  ticket: z.string().max(200),
  type: LogSource.shape.type,
  id: z.coerce.number().pipe(LogSource.shape.id),
  after: z.coerce.number().int().min(0).optional(),
});

interface AuthorizedTail {
  owner: StreamOwner;
  containerId: number;
  after: number | undefined;
}

/** `WS /frontend-api/logging/tail`: the lines after a line number, then new ones, each exactly once and in order. */
export function mountLogTail(app: FastifyInstance, ctx: Context): void {
  const admitted = new WeakMap<FastifyRequest, AuthorizedTail>();
  const preValidation = async (request: FastifyRequest): Promise<void> => {
    admitted.set(request, await authorizeTail(ctx, request));
  };
  const tails = new Set<WebSocket>();
  app.get(`${API_PREFIX}logging/tail`, { websocket: true, preValidation }, (socket, request) => {
    tails.add(socket);
    socket.on('close', () => tails.delete(socket));
    serveTail(ctx, socket, admitted.get(request)!);
  });
  app.addHook('preClose', async () => {
    for (const socket of tails) {
      socket.close(1012, 'the platform restarts');
      const terminateTimer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
      socket.on('close', () => clearTimeout(terminateTimer));
    }
  });
}

/** Authorizes the request before the upgrade: first the origin, then the ticket, which it consumes, then the source. */
async function authorizeTail(ctx: Context, request: FastifyRequest): Promise<AuthorizedTail> {
  if (!isOwnOrigin(ctx, request)) throw forbidden();
  const parsed = TailQuery.safeParse(request.query);
  if (!parsed.success) throw badInput(parsed.error);
  const owner = await consumeStreamTicket(ctx, parsed.data.ticket);
  if (!owner) throw unauthenticated();
  const { id } = await visibleContainer(scopeOf(ctx, owner), { id: parsed.data.id });
  return { owner, containerId: id, after: parsed.data.after };
}

const scopeOf = (ctx: Context, { workspace }: StreamOwner) => ({ db: ctx.within(workspace.id), workspace });

/** Against cross-site WebSocket hijacking. Browsers always send an origin; other clients have no cookie to misuse. */
function isOwnOrigin({ config }: Context, request: FastifyRequest): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined || origin === config.appOrigin) return true;
  if (!config.originIsLoopback || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host && isLoopback(page.hostname);
}

function serveTail(ctx: Context, socket: WebSocket, { owner, containerId, after }: AuthorizedTail): void {
  let heardAt = Date.now();
  const send = (message: TailMessage): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  };
  const { db } = scopeOf(ctx, owner);
  const follower = followLog({ bus: ctx.bus, db }, containerId, after, {
    send,
    bufferedBytes: () => socket.bufferedAmount,
    onError(error) {
      ctx.log.warn({ err: error, containerId }, 'log tail ended');
      socket.close(1013, 'try again');
    },
  });
  const unwatch = recheckStreamOwner(ctx, owner, recheck);
  const ping = setInterval(() => {
    if (Date.now() - heardAt > SILENCE_TIMEOUT_MS) return socket.terminate();
    send({ type: 'ping' });
    socket.ping();
  }, PING_MS);
  socket.on('pong', () => {
    heardAt = Date.now();
  });
  socket.on('close', () => {
    follower.stop();
    unwatch();
    clearInterval(ping);
  });

  async function recheck(): Promise<void> {
    try {
      const now = await streamOwner(ctx, owner);
      if (!now) return socket.close(CLOSE_CODE_UNAUTHORIZED, 'signed out');
      await visibleContainer(scopeOf(ctx, now), { id: containerId });
    } catch (error) {
      if (!(error instanceof PublicError)) throw error;
      socket.close(CLOSE_CODE_UNAUTHORIZED, 'no access any more');
    }
  }
}
