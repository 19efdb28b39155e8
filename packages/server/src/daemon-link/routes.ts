import { EnrolRequest } from '@stagi/contract/daemon.ts';
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import type { Context } from '../context.ts';
import { badInput } from '../http/errors.ts';
import { admitLink } from './admission.ts';
import { mountDownloads } from './downloads.ts';
import { enrol } from './enrol.ts';
import { collectHeartbeats } from './heartbeats.ts';
import { serveLink } from './link.ts';

const CLOSE_PATIENCE_MS = 1_000;

/** What daemons call: everything else of the platform is closed to them. */
export function mountDaemonApi(app: FastifyInstance, ctx: Context): void {
  const heartbeats = collectHeartbeats(ctx);
  const links = new Map<WebSocket, Promise<void>>();

  app.post('/daemon-api/enrol', async (request) => {
    const parsed = EnrolRequest.safeParse(request.body);
    if (!parsed.success) throw badInput(parsed.error);
    return { isSuccess: true, node: await enrol(ctx, parsed.data) };
  });
  mountDownloads(app, ctx);
  app.get('/daemon-api/link', { websocket: true, preValidation: admitLink }, (socket, request) => {
    ctx.meters.linkOpened();
    const served = serveLink(ctx, socket, request.ip, heartbeats).finally(() => {
      links.delete(socket);
      ctx.meters.linkClosed();
    });
    links.set(socket, served);
  });

  app.addHook('preClose', async () => {
    for (const socket of links.keys()) socket.close(1012, 'the platform restarts');
    const impatience = setTimeout(() => {
      for (const socket of links.keys()) socket.terminate();
    }, CLOSE_PATIENCE_MS);
    await Promise.all(links.values());
    clearTimeout(impatience);
    await heartbeats.stop();
  });
}
