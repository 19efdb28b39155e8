import { EnrolRequest } from '@stagi/contract/daemon.ts';
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import type { Context } from '../context.ts';
import { badInput, PublicError } from '../http/errors.ts';
import { openLogKeeper } from '../logging/kept.ts';
import { admitLink, LINKS_A_SECOND } from './admission.ts';
import { mountDownloads } from './downloads.ts';
import { enrol } from './enrol.ts';
import { collectHeartbeats } from './heartbeats.ts';
import { type Link, serveLink } from './link.ts';

/** A daemon that was asked to leave does so at once; one that does not is closed upon, then cut off. */
const LEAVE_PATIENCE_MS = 1_000;
const CLOSE_PATIENCE_MS = 500;
const FIRST_BACK_MS = 500;

/** What daemons call: everything else of the platform is closed to them. */
export function mountDaemonApi(app: FastifyInstance, ctx: Context): void {
  const heartbeats = collectHeartbeats(ctx);
  const keepLog = openLogKeeper(ctx.db);
  const links = new Map<WebSocket, Link>();
  let isStopping = false;

  app.post('/daemon-api/enrol', async (request) => {
    const parsed = EnrolRequest.safeParse(request.body);
    if (!parsed.success) throw badInput(parsed.error);
    return { isSuccess: true, node: await enrol(ctx, parsed.data) };
  });
  mountDownloads(app, ctx);
  /** Answers at once: a daemon asks whether the network is back, or its connection dead. */
  app.get('/daemon-api/reach', (_request, reply) => reply.code(204).send());
  app.get('/daemon-api/link', { websocket: true, preValidation: admit }, (socket, request) => {
    ctx.meters.linkOpened();
    const wire = request.raw.socket;
    const link = serveLink(
      ctx,
      socket,
      { remoteAddress: request.ip, bytesRead: () => wire.bytesRead },
      { heartbeats, keepLog },
    );
    links.set(socket, link);
    void link.over.finally(() => {
      links.delete(socket);
      ctx.meters.linkClosed();
    });
  });

  async function admit(): Promise<void> {
    if (isStopping) throw new PublicError(503, 'The platform restarts', { retryAfter: 1 });
    await admitLink();
  }

  app.addHook('preClose', async () => {
    isStopping = true;
    // So many at once are admitted wherever they go; those that come later find the next process up.
    const spreadMs = FIRST_BACK_MS + (links.size / LINKS_A_SECOND) * 1000;
    for (const link of links.values()) link.drain(Math.round(FIRST_BACK_MS + Math.random() * spreadMs));
    const impatience = setTimeout(() => {
      for (const socket of links.keys()) socket.close(1012, 'the platform restarts');
      lastResort = setTimeout(() => {
        for (const socket of links.keys()) socket.terminate();
      }, CLOSE_PATIENCE_MS);
    }, LEAVE_PATIENCE_MS);
    let lastResort: NodeJS.Timeout | undefined;
    await Promise.all([...links.values()].map(({ over }) => over));
    clearTimeout(impatience);
    clearTimeout(lastResort);
    await heartbeats.stop();
  });
}
