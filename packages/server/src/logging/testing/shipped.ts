import { api } from '@stagi/contract/api.ts';
import { encodeRecord, type LogRecord } from '@stagi/contract/frames.ts';
import type { LogLine } from '@stagi/contract/logging.ts';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { inTransaction } from '../../db/pool.ts';
import { issueEnrolment } from '../../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { connectDaemon, enrolNode, type NodeKey, type TestDaemon } from '../../testing/daemon.ts';
import { aContainer, aRentedInstance } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';

export const NOW_NS = BigInt(Date.now()) * 1_000_000n;

/** A rented server of one person, whose daemon ships logs, and another person. */
export interface LoggingApp {
  app: TestApp;
  alice: Person;
  mallory: Person;
  server: number;
  key: NodeKey;
  /** Opens a link of the daemon with a log stream of a container. */
  open(containerId: number, epoch?: string, stream?: number): Promise<Ship>;
  query(containerId: number, more?: object, by?: Person): ReturnType<typeof queryLog>;
  /** The lines of a container, once this many are stored. */
  stored(containerId: number, count: number): Promise<LogLine[]>;
}

export async function startLoggingApp(env: Record<string, string> = {}): Promise<LoggingApp> {
  const app = await startTestApp(env);
  const [alice, mallory] = [await app.signUp(), await app.signUp()];
  const server = await aRentedInstance(app.ctx, alice);
  const key = await joinServer(app, server);
  const query = (containerId: number, more = {}, by = alice) => queryLog(by, containerId, more);
  return {
    app,
    alice,
    mallory,
    server,
    key,
    query,
    open: async (containerId, epoch, stream) => openLog(await connectDaemon(app.url, key), containerId, epoch, stream),
    async stored(containerId, count) {
      await expect.poll(async () => (await query(containerId)).lastSeq).toBe(count);
      return (await query(containerId)).lines;
    },
  };
}

/** The same, with a new container before each test. */
export function aLoggingContainer() {
  const at = {} as { logs: LoggingApp; container: number };
  beforeAll(async () => {
    at.logs = await startLoggingApp();
  });
  afterAll(() => at.logs?.app.close());
  beforeEach(async () => {
    at.container = await aContainer(at.logs.app.ctx, at.logs.alice, at.logs.server);
  });
  return at;
}

async function joinServer(app: TestApp, id: number): Promise<NodeKey> {
  const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
  return enrolNode(app.url, token);
}

function queryLog(by: Person, id: number, more: object) {
  return by.client(api.logging.query, { source: { type: 'docker-container', id }, limit: 1000, ...more });
}

export const line = (text: string, more: Partial<LogRecord> = {}): Uint8Array =>
  encodeRecord({ timeNs: NOW_NS, stream: 'stdout', partial: false, text: Buffer.from(text), ...more });

export interface Ship {
  daemon: TestDaemon;
  stream: number;
  cursor: { offset: number; timeNs: string | null; recordsAtTime: number };
  offset: number;
  /** Sends records, waits until they are stored, and returns the offset after them. */
  print(...records: Uint8Array[]): Promise<number>;
}

export async function openLog(daemon: TestDaemon, containerId: number, epoch = 'docker id', stream = 1): Promise<Ship> {
  daemon.send({ type: 'log-open', stream, containerId, epoch });
  const { cursor } = await daemon.next('log-resume', (message) => message.stream === stream);
  let at = cursor.offset;
  return {
    daemon,
    stream,
    cursor,
    offset: cursor.offset,
    async print(...records) {
      const bytes = Buffer.concat(records);
      const from = at;
      at += bytes.length;
      for (let sent = 0; sent < bytes.length; sent += 60_000) {
        daemon.sendBytes(stream, from + sent, bytes.subarray(sent, sent + 60_000));
      }
      const end = at;
      await daemon.next('credit', (message) => message.stream === stream && message.offset === end);
      return end;
    },
  };
}
