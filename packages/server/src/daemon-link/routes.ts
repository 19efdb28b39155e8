import { EnrolRequest } from '@stagi/contract/daemon.ts';
import { STREAMS_PATH } from '@stagi/contract/daemonStreams.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { Context } from '../context.ts';
import { badInput, restarting } from '../http/errors.ts';
import { networkOf } from '../http/network.ts';
import { batchDurabilityWaits } from '../logging/logDurability.ts';
import { mountDownloads } from '../nodes/downloads.ts';
import { asStranger } from '../slots/holder.ts';
import { createTurnstile } from '../slots/turnstile.ts';
import { batchUsage } from '../usageSamples/record.ts';
import { exchangeEnrolment } from './exchangeEnrolment.ts';
import { CLOSE_CODES } from './handleLink.ts';
import { batchHeartbeats } from './heartbeats.ts';
import { type Link, serveLink } from './link.ts';
import { createLinkRateLimit, LINKS_PER_SECOND } from './linkRateLimit.ts';

/** Graceful shutdown: daemons are asked to disconnect, then closed, then terminated. */
const DRAIN_TIMEOUT_MS = 1_000;
const CLOSE_TIMEOUT_MS = 500;
const RECONNECT_MIN_MS = 500;
/** An opening lives half a second at least, however many come from its address: 128 are kept of it. */
const OPENINGS_OF_ADDRESS = { perSecond: 200, atOnce: 64, longestWaitMs: 10_000 };
/** A proof is far smaller; whoever sends it may be anybody. */
const UNPROVEN_MAX_BYTES = 64 * 1024;

/** The API of daemons; they may call nothing else. */
export function mountDaemonApi(app: FastifyInstance, ctx: Context): void {
  const heartbeats = batchHeartbeats(ctx);
  const usage = batchUsage(ctx);
  const waitUntilDurable = batchDurabilityWaits(ctx.db);
  const rateLimit = createLinkRateLimit();
  const inTurn = createTurnstile(OPENINGS_OF_ADDRESS);
  const links = new Map<WebSocket, Link>();
  let isStopping = false;

  app.post('/daemon-api/enrol', async (request) => {
    const parsed = EnrolRequest.safeParse(request.body);
    if (!parsed.success) throw badInput(parsed.error);
    return { isSuccess: true, node: await exchangeEnrolment(ctx, parsed.data) };
  });
  mountDownloads(app, ctx);
  /** Answers at once. Daemons probe it to learn whether the network is back, or only their connection dead. */
  app.get('/daemon-api/reach', (_request, reply) => reply.code(204).send());
  app.get('/daemon-api/link', { websocket: true, preValidation: admitLink }, (socket, request) => {
    ctx.meters.linkOpened();
    const wire = request.raw.socket;
    const release = ctx.slots.linkOpenings.enter(asStranger(request.ip), () => wire.resetAndDestroy());
    const readBefore = wire.bytesRead;
    const boundSize = (): void => {
      if (wire.bytesRead - readBefore > UNPROVEN_MAX_BYTES) wire.resetAndDestroy();
    };
    wire.on('data', boundSize);
    const authenticated = (): void => {
      wire.off('data', boundSize);
      release();
    };
    socket.once('close', authenticated);
    const link = serveLink(
      ctx,
      socket,
      { remoteAddress: request.ip, bytesRead: () => wire.bytesRead, authenticated },
      { heartbeats, usage, rateLimit, waitUntilDurable },
    );
    links.set(socket, link);
    void link.closed.finally(() => {
      links.delete(socket);
      ctx.meters.linkClosed();
    });
  });

  /** The second socket of a daemon, which the platform asked for on its link. */
  app.get(STREAMS_PATH, { websocket: true }, (socket, request) => {
    const ticket = /^Bearer ([\w-]{1,100})$/.exec(request.headers.authorization ?? '')?.[1];
    if (!ticket || !ctx.streams.accept(ticket, socket)) socket.close(CLOSE_CODES.unknownKey, 'no such ticket');
  });

  async function admitLink({ ip }: FastifyRequest): Promise<void> {
    if (!isStopping) await inTurn(networkOf(ip));
    if (isStopping) throw restarting();
  }

  app.addHook('preClose', drainLinks);

  async function drainLinks(): Promise<void> {
    isStopping = true;
    // Spread over the time that the rate limit needs to admit them again.
    const spreadMs = RECONNECT_MIN_MS + (links.size / LINKS_PER_SECOND) * 1000;
    for (const link of links.values()) link.drain(Math.round(RECONNECT_MIN_MS + Math.random() * spreadMs));
    const closeTimer = setTimeout(() => {
      for (const socket of links.keys()) socket.close(1012, 'the platform restarts');
      terminateTimer = setTimeout(() => {
        for (const socket of links.keys()) socket.terminate();
      }, CLOSE_TIMEOUT_MS);
    }, DRAIN_TIMEOUT_MS);
    let terminateTimer: NodeJS.Timeout | undefined;
    await Promise.all([...links.values()].map(({ closed }) => closed));
    clearTimeout(closeTimer);
    clearTimeout(terminateTimer);
    await heartbeats.stop();
    await usage.stop();
  }
}
