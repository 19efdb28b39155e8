import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { FILES_FEATURE } from '@stagi/contract/daemonFiles.ts';
import { STREAM_WINDOW_BYTES, STREAMS_FEATURE, STREAMS_PATH } from '@stagi/contract/daemonStreams.ts';
import { socketPair } from '@stagi/contract/socketPair.ts';
import { createWebSocketStream, WebSocket } from 'ws';
import { issueEnrolment } from '../../nodes/enrolment.ts';
import type { TestApp } from '../../testing/app.ts';
import { connectDaemon, enrolNode, type NodeKey } from '../../testing/daemon.ts';
import { aContainer, aRentedInstance } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';

/** A file as a daemon lists it. */
export const LISTED = {
  kind: 'file',
  sizeBytes: 0,
  modifiedAt: '2026-01-01T00:00:00Z',
  etag: 'e',
  name: 'a',
  isEscaped: false,
};

/** Its answer to every operation on files: `unit` so many times, between head and tail. */
export interface HostileAnswer {
  head: string;
  unit: string;
  count: number;
  tail: string;
}

export interface HostileDaemon {
  /** The volume that it serves. */
  of: { id: number; volume: string };
  answerWith(answer: HostileAnswer): Promise<void>;
  close(): Promise<unknown>;
}

/**
 * A rented server in the hands of somebody else, with one volume. It runs in a thread of its own, so that its work is none
 * of the platform's, and sends no heartbeats: the platform must run without workers.
 */
export async function joinHostileDaemon(app: TestApp, owner: Person): Promise<HostileDaemon> {
  const serverId = await aRentedInstance(app.ctx, owner);
  const id = await aContainer(app.ctx, owner, serverId);
  const directories = JSON.stringify([{ host: '/srv/data', container: '/data' }]);
  await app.ctx.db.updateTable('container').set({ directories }).where('id', '=', id).execute();
  const { token } = await app.ctx.db.transaction().execute((trx) => issueEnrolment(app.ctx, trx, serverId, 'rented'));
  const key = await enrolNode(app.url, token);
  const thread = new Worker(new URL(import.meta.url), { workerData: { hostile: { url: app.url, key } } });
  const told = (): Promise<unknown> => once(thread, 'message');
  await told();
  return {
    of: { id, volume: '/data' },
    async answerWith(answer) {
      thread.postMessage(answer);
      await told();
    },
    close: () => thread.terminate(),
  };
}

async function serveFiles({ url, key }: { url: string; key: NodeKey }): Promise<void> {
  let answer = Buffer.alloc(0);
  parentPort!.on('message', ({ head, unit, count, tail }: HostileAnswer) => {
    answer = Buffer.from(head + unit.repeat(count) + tail);
    parentPort!.postMessage('ready');
  });
  const { socket } = await connectDaemon(url, key, { features: [STREAMS_FEATURE, FILES_FEATURE] });
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString());
    if (message.type === 'streams') void serveStreams(url, message.ticket, () => answer);
  });
  parentPort!.postMessage('connected');
}

async function serveStreams(url: string, ticket: string, answer: () => Buffer): Promise<void> {
  const address = `${url.replace('http', 'ws')}${STREAMS_PATH}`;
  const socket = new WebSocket(address, { perMessageDeflate: false, headers: { authorization: `Bearer ${ticket}` } });
  // At once: the first bytes would be lost.
  const wire = createWebSocketStream(socket);
  const server = createServer({ settings: { initialWindowSize: STREAM_WINDOW_BYTES } });
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.resume();
    stream.respond({ ':status': 200 });
    // The platform breaks off what is too long.
    pipeline(Readable.from(partsOf(answer())), stream).catch(() => {});
  });
  const [near, far] = await socketPair();
  server.emit('connection', near);
  await pipeline(wire, far, wire).catch(() => {});
  near.destroy();
}

/** A session of HTTP/2 holds a limited part at once, also for who sends it. */
function* partsOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

// This file is the thread's, too.
if (!isMainThread && workerData?.hostile) await serveFiles(workerData.hostile);
