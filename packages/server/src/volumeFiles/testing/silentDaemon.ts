import { createServer, type ServerHttp2Stream } from 'node:http2';
import { pipeline } from 'node:stream/promises';
import { FILES_FEATURE } from '@stagi/contract/daemonFiles.ts';
import { STREAMS_FEATURE, STREAMS_PATH } from '@stagi/contract/daemonStreams.ts';
import { socketPair } from '@stagi/contract/socketPair.ts';
import { TERMINAL_FEATURE } from '@stagi/contract/terminals.ts';
import { createWebSocketStream, WebSocket } from 'ws';
import { issueEnrolment } from '../../nodes/enrolment.ts';
import type { TestApp } from '../../testing/app.ts';
import { connectDaemon, enrolNode } from '../../testing/daemon.ts';
import { aContainer, aRentedInstance } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';

/** A server in the hands of somebody who lets whoever asks its daemon wait. */
export interface SilentDaemon {
  instanceId: number;
  containerId: number;
  /** The volume that it serves. */
  of: { id: number; volume: string };
  /** Streams that are open and wait. */
  open(): number;
  /** Streams that the platform asked for so far. */
  asked(): number;
  /** Breaks off all that wait. */
  release(): void;
  /** Comes for the streams that the platform asked for meanwhile, and for all from now on. */
  wakeUp(): void;
  /** Answers all streams from now on with this. */
  answer: ((stream: ServerHttp2Stream) => void) | null;
  close(): Promise<void>;
}

/**
 * Rents a server with a running container; its daemon opens streams, and answers nothing on them. With `isDeaf` it does not
 * even come for the streams that the platform asks for, until it wakes up. It sends no heartbeats: the platform must run without workers.
 */
export async function joinSilentDaemon(app: TestApp, owner: Person, { isDeaf = false } = {}): Promise<SilentDaemon> {
  const instanceId = await aRentedInstance(app.ctx, owner);
  const containerId = await aContainer(app.ctx, owner, instanceId);
  const directories = JSON.stringify([{ host: '/srv/data', container: '/data' }]);
  await app.ctx.db.updateTable('container').set({ directories }).where('id', '=', containerId).execute();
  const { token } = await app.ctx.db.transaction().execute((trx) => issueEnrolment(app.ctx, trx, instanceId, 'rented'));
  const features = [STREAMS_FEATURE, FILES_FEATURE, TERMINAL_FEATURE];
  const link = await connectDaemon(app.url, await enrolNode(app.url, token), { features });
  const waiting = new Set<ServerHttp2Stream>();
  const sockets = new Set<WebSocket>();
  let unheard: string[] | null = isDeaf ? [] : null;
  let asked = 0;

  async function serve(ticket: string): Promise<void> {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}${STREAMS_PATH}`, {
      perMessageDeflate: false,
      headers: { authorization: `Bearer ${ticket}` },
    });
    sockets.add(socket);
    // At once: the first bytes would be lost.
    const wire = createWebSocketStream(socket);
    const server = createServer();
    server.on('stream', (stream: ServerHttp2Stream) => {
      asked += 1;
      stream.on('error', () => {});
      if (daemon.answer) return daemon.answer(stream);
      waiting.add(stream);
      stream.once('close', () => waiting.delete(stream));
      stream.resume();
      stream.respond({ ':status': 200 });
    });
    const [near, far] = await socketPair();
    server.emit('connection', near);
    await pipeline(wire, far, wire).catch(() => {});
    near.destroy();
  }

  link.socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString());
    if (message.type !== 'streams') return;
    if (unheard) unheard.push(message.ticket);
    else void serve(message.ticket);
  });
  const daemon: SilentDaemon = {
    instanceId,
    containerId,
    of: { id: containerId, volume: '/data' },
    open: () => waiting.size,
    asked: () => asked,
    release() {
      for (const stream of waiting) stream.close();
    },
    wakeUp() {
      const tickets = unheard ?? [];
      unheard = null;
      for (const ticket of tickets) void serve(ticket);
    },
    answer: null,
    async close() {
      for (const socket of sockets) socket.terminate();
      await link.close();
    },
  };
  return daemon;
}
