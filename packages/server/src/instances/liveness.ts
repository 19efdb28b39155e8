import { OFFLINE_AFTER_S, UNRESPONSIVE_AFTER_S } from '@stagi/contract/instances.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { databaseNow } from './daemonSignals.ts';
import { transitionInstance } from './status.ts';

const CHECK_MS = 5_000;

/** Looks every 5 s for servers whose daemon sends no heartbeats. */
export function startLivenessCheck(ctx: Context): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  /** Silence counts from here: before this moment the platform could not receive heartbeats. */
  let listeningSince: Date | null = null;
  let lastCheckAt = 0;

  const check = async (): Promise<void> => {
    try {
      // After an outage of the database or a pause of this process its view of heartbeats is stale: start counting again.
      if (performance.now() - lastCheckAt > 3 * CHECK_MS) listeningSince = null;
      listeningSince ??= await databaseNow(ctx.db);
      await markSilentServers(ctx, listeningSince);
      lastCheckAt = performance.now();
    } catch (error) {
      listeningSince = null;
      ctx.log.warn({ err: error }, 'cannot look after silent servers now');
    }
    if (!stopped) timer = setTimeout(() => (running = check()), CHECK_MS);
  };
  running = check();

  return {
    async stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}

/** After 40 s without a heartbeat a server is unresponsive, after five minutes a self-hosted one is offline. */
export async function markSilentServers(ctx: Pick<Context, 'db' | 'log'>, listeningSince: Date): Promise<void> {
  const silent = await silentServers(ctx.db, listeningSince).execute();
  for (const { id } of silent) {
    await inTransaction(ctx.db, async (trx) => {
      // Checked again under the row's lock: a heartbeat may have come meanwhile.
      const row = await silentServers(trx, listeningSince)
        .where('instance.id', '=', id)
        .forNoKeyUpdate('instance')
        .executeTakeFirst();
      if (!row) return;
      const [to, reason] =
        row.status === 'online'
          ? ([
              'unresponsive',
              text('Its agent has not reported for {{seconds}} seconds', { seconds: UNRESPONSIVE_AFTER_S }),
            ] as const)
          : ([
              'offline',
              text('Its agent has not reported for {{minutes}} minutes', { minutes: OFFLINE_AFTER_S / 60 }),
            ] as const);
      await transitionInstance(ctx, trx, id, to, { reason, seenAt: row.last_seen_at ?? undefined });
    });
  }
}

function silentServers(db: Db, listeningSince: Date) {
  const silentFor = (seconds: number) =>
    sql<boolean>`greatest(daemon_node.last_seen_at, ${listeningSince}::timestamptz) < now() - ${`${seconds} seconds`}::interval`;
  return db
    .selectFrom('instance')
    .innerJoin('daemon_node', 'daemon_node.instance_id', 'instance.id')
    .select(['instance.id', 'instance.status', 'daemon_node.last_seen_at'])
    .where('instance.closed_at', 'is', null)
    .where('daemon_node.last_seen_at', 'is not', null)
    .where((eb) =>
      eb.or([
        eb.and([eb('instance.status', '=', 'online'), silentFor(UNRESPONSIVE_AFTER_S)]),
        eb.and([
          eb('instance.status', '=', 'unresponsive'),
          eb('instance.kind', '=', 'self-hosted'),
          silentFor(OFFLINE_AFTER_S),
        ]),
      ]),
    );
}
