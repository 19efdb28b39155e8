import { OFFLINE_AFTER_S, UNRESPONSIVE_AFTER_S } from '@stagi/contract/instances.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { endFarewells } from '../selfHosted/leave.ts';
import { databaseNow } from './readiness.ts';
import { moveInstance } from './status.ts';

const EVERY_MS = 5_000;

/** Looks every 5 s for servers whose daemon is silent. */
export function startLiveness(ctx: Context): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  /** Silence counts from here: before, nobody could have been heard. */
  let listeningSince: Date | null = null;
  let lastPassAt = 0;

  const turn = async (): Promise<void> => {
    try {
      // After an outage of the database, or of this very process, everybody gets a fresh start.
      if (performance.now() - lastPassAt > 3 * EVERY_MS) listeningSince = null;
      listeningSince ??= await databaseNow(ctx.db);
      await findSilent(ctx, listeningSince);
      await endFarewells(ctx);
      lastPassAt = performance.now();
    } catch (error) {
      listeningSince = null;
      ctx.log.warn({ err: error }, 'cannot look after silent servers now');
    }
    if (!stopped) timer = setTimeout(() => (running = turn()), EVERY_MS);
  };
  running = turn();

  return {
    async stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}

/** One look: 40 s without a beat make a server unresponsive, five minutes an own one offline. */
export async function findSilent(ctx: Pick<Context, 'db' | 'log'>, listeningSince: Date): Promise<void> {
  const silent = await silentServers(ctx.db, listeningSince).execute();
  for (const { id } of silent) {
    await inTransaction(ctx.db, async (trx) => {
      // Again, now that the row is locked: it may have been heard meanwhile.
      const row = await silentServers(trx, listeningSince)
        .where('instance.id', '=', id)
        .forNoKeyUpdate('instance')
        .executeTakeFirst();
      if (!row) return;
      const [to, reason] =
        row.status === 'online'
          ? (['unresponsive', `No word from its daemon for ${UNRESPONSIVE_AFTER_S} seconds`] as const)
          : (['offline', `No word from its daemon for ${OFFLINE_AFTER_S / 60} minutes`] as const);
      await moveInstance(ctx, trx, id, to, { reason, seenAt: row.last_seen_at ?? undefined });
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
