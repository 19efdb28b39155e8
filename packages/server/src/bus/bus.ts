import { EventEmitter } from 'node:events';
import type { WorkspaceEvent } from '@stagi/contract/events.ts';
import type { LogGap, LogLine } from '@stagi/contract/logging.ts';
import { sql } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Db } from '../db/schema.ts';

/** The topics. Most are published to all processes on commit (see `announce`); `log` and `missed` stay in this process. */
export interface Topics {
  changed: WorkspaceEvent & { workspaceId: number };
  /** A node's desired state has changed, or there is a command for it. */
  node: { instanceId: number };
  /** A session, membership or account has ended: open streams check their authorization again. */
  access: { userId: number };
  /** Notifications of other processes may have been lost: subscribers that rely on them check again. */
  missed: Record<string, never>;
  /** Something of a task on this server has changed that its worker may act upon. */
  task: { instanceId: number };
  /** Work is due for a reconcile loop. */
  due: { kind: 'instance' | 'storage' | 'project' | 'project_import' };
  log: { containerId: number; lines: LogLine[]; gaps: LogGap[] };
}

export interface Bus {
  publish<T extends keyof Topics>(topic: T, message: Topics[T]): void;
  subscribe<T extends keyof Topics>(topic: T, listener: (message: Topics[T]) => void): () => void;
}

export function createBus(): Bus {
  const emitter = new EventEmitter().setMaxListeners(0);
  return {
    publish: (topic, message) => void emitter.emit(topic, message),
    subscribe(topic, listener) {
      emitter.on(topic, listener);
      return () => emitter.off(topic, listener);
    },
  };
}

const CHANNEL = 'stagi';
const RETRY_MS = 500;
/** The listening connection is probed at this interval, as it would not notice a network that drops packets. */
const PROBE_INTERVAL_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;

/** Publishes to every process exactly when the transaction of `db` commits. */
export async function announce<T extends Exclude<keyof Topics, 'log' | 'missed'>>(
  db: Db,
  topic: T,
  message: Topics[T],
): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${JSON.stringify({ topic, message })})`.execute(db);
}

/** The same for many messages at once. */
export async function announceAll<T extends Exclude<keyof Topics, 'log' | 'missed'>>(
  db: Db,
  topic: T,
  messages: readonly Topics[T][],
): Promise<void> {
  const texts = messages.map((message) => JSON.stringify({ topic, message }));
  await sql`select pg_notify(${CHANNEL}, text) from unnest(${texts}::text[]) as text`.execute(db);
}

/**
 * Publishes here what any process announced. Reconnects when the connection is lost or does not answer a probe.
 * Notifications are only hints.
 */
export function listen(url: string, bus: Bus, log: Logger): { ready: Promise<void>; close(): Promise<void> } {
  let closed = false;
  let client: pg.Client | null = null;
  let retrying: NodeJS.Timeout | null = null;
  let hasListened = false;

  const connect = async (): Promise<void> => {
    const next = new pg.Client({
      connectionString: url,
      application_name: 'stagi-listen',
      connectionTimeoutMillis: PROBE_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
      keepAlive: true,
    });
    const asking = setInterval(() => {
      // Its `end` event reconnects.
      next.query('select 1').catch(() => next.connection.stream.destroy());
    }, PROBE_INTERVAL_MS);
    next.on('error', (error) => log.warn({ err: error }, 'listening connection lost'));
    next.on('end', () => {
      clearInterval(asking);
      retry();
    });
    next.on('notification', ({ payload }) => {
      const { topic, message } = JSON.parse(payload ?? '{}') as { topic: keyof Topics; message: Topics[keyof Topics] };
      bus.publish(topic, message);
    });
    client = next;
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
      if (hasListened) bus.publish('missed', {});
      hasListened = true;
    } catch (error) {
      clearInterval(asking);
      next.connection.stream.destroy();
      throw error;
    }
  };
  const retry = (): void => {
    if (closed || retrying) return;
    retrying = setTimeout(() => {
      retrying = null;
      connect().catch((error: unknown) => {
        log.warn({ err: error }, 'cannot listen to the database yet');
        retry();
      });
    }, RETRY_MS);
  };

  return {
    ready: connect(),
    async close() {
      closed = true;
      if (retrying) clearTimeout(retrying);
      await client?.end();
    },
  };
}
