import { API_PREFIX } from '@stagi/contract/call.ts';
import { LogSource, type TailMessage } from '@stagi/contract/logging.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { type StreamOwner, spendStreamTicket, streamOwner } from '../auth/streamTicket.ts';
import { watchOwner } from '../auth/watchOwner.ts';
import { visibleContainer } from '../containers/access.ts';
import type { Context } from '../context.ts';
import { badInput, forbidden, PublicError, unauthenticated } from '../http/errors.ts';
import { isLoopback } from '../loopback.ts';
import { followLog } from './follow.ts';

const PING_MS = 15_000;
const SILENT_MAX_MS = 40_000;
const ENDED = 4401;
const CLOSE_PATIENCE_MS = 1_000;

const Question = z.object({
  ticket: z.string().max(200),
  type: LogSource.shape.type,
  id: z.coerce.number().pipe(LogSource.shape.id),
  after: z.coerce.number().int().min(0).optional(),
});

interface Admitted {
  owner: StreamOwner;
  containerId: number;
  after: number | undefined;
}

/** `WS /frontend-api/logging/tail`: history behind a line, then what is printed, each line once and in order. */
export function mountLogTail(app: FastifyInstance, ctx: Context): void {
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  const preValidation = async (request: FastifyRequest): Promise<void> => {
    admitted.set(request, await admit(ctx, request));
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
      const impatience = setTimeout(() => socket.terminate(), CLOSE_PATIENCE_MS);
      socket.on('close', () => clearTimeout(impatience));
    }
  });
}

/** Refuses before the upgrade: a foreign origin before the ticket is spent, then whoever may not see the source. */
async function admit(ctx: Context, request: FastifyRequest): Promise<Admitted> {
  if (!isOwnOrigin(ctx, request)) throw forbidden();
  const parsed = Question.safeParse(request.query);
  if (!parsed.success) throw badInput(parsed.error);
  const owner = await spendStreamTicket(ctx, parsed.data.ticket);
  if (!owner) throw unauthenticated();
  const { id } = await visibleContainer(seenBy(ctx, owner), { id: parsed.data.id });
  return { owner, containerId: id, after: parsed.data.after };
}

const seenBy = (ctx: Context, { workspace }: StreamOwner) => ({ db: ctx.within(workspace.id), workspace });

/** Browsers always name the page's origin; what names none is no browser and has no cookie to misuse. */
function isOwnOrigin({ config }: Context, request: FastifyRequest): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined || origin === config.appOrigin) return true;
  if (!config.originIsLoopback || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host && isLoopback(page.hostname);
}

function serveTail(ctx: Context, socket: WebSocket, { owner, containerId, after }: Admitted): void {
  let heardAt = Date.now();
  const send = (message: TailMessage): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  };
  const { db } = seenBy(ctx, owner);
  const follower = followLog({ bus: ctx.bus, db }, containerId, after, {
    send,
    unsent: () => socket.bufferedAmount,
    broken(error) {
      ctx.log.warn({ err: error, containerId }, 'log tail ended');
      socket.close(1013, 'try again');
    },
  });
  const unwatch = watchOwner(ctx, owner, recheck);
  const ping = setInterval(() => {
    if (Date.now() - heardAt > SILENT_MAX_MS) return socket.terminate();
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
      if (!now) return socket.close(ENDED, 'signed out');
      await visibleContainer(seenBy(ctx, now), { id: containerId });
    } catch (error) {
      if (!(error instanceof PublicError)) throw error;
      socket.close(ENDED, 'no access any more');
    }
  }
}
