import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { inTransaction } from '@stagi/server/src/db/pool.ts';
import type { Db } from '@stagi/server/src/db/schema.ts';
import { WORKER_LOCK_SPACE } from '@stagi/server/src/reconcile/workerRegistry.ts';
import { sql } from 'kysely';
import type { Random } from '../random.ts';
import { until } from '../until.ts';

export interface Kills {
  kills: number;
  /** Those of processes that were in the middle of a transaction. */
  insideTransaction: number;
  /** Those of processes that were charging or settling a workspace. */
  insideCharge: number;
}

/** A session of a transaction that meters, by its last or current statement. */
const CHARGING = sql.raw(`query ~ 'segment_charge|workspace_meter|posting'`);
/** How long an aimed kill waits for a transaction, and an ambush for a charge that writes something off. */
const AIM_MS = 1_500;
const AMBUSH_MS = 10_000;

/** Keeps `count` workers alive; each has a name of its own in the database. */
export function keepWorkers(
  db: Db,
  random: Random,
  { count, launch }: { count: number; launch: (name: string) => Promise<ChildProcess> },
) {
  const workers = new Map<string, ChildProcess>();
  const gone: Promise<unknown>[] = [];
  const done: Kills = { kills: 0, insideTransaction: 0, insideCharge: 0 };
  let isAmbushing = false;
  let made = 0;

  async function hire(): Promise<void> {
    made += 1;
    const name = `worker-${made}`;
    workers.set(name, await launch(name));
  }

  /** Workers that have begun to work: they hold their lock. */
  async function atWork(): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`select distinct application_name as name
      from pg_stat_activity join pg_locks using (pid)
      where datname = current_database() and locktype = 'advisory' and granted and classid = ${WORKER_LOCK_SPACE}::oid`.execute(
      db,
    );
    return rows.map(({ name }) => name).filter((name) => workers.has(name));
  }

  async function sessions(condition: typeof CHARGING): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`select application_name as name from pg_stat_activity
      where datname = current_database() and application_name like 'worker-%' and ${condition}`.execute(db);
    return rows.map(({ name }) => name).filter((name) => workers.has(name));
  }

  async function ambush(trx: Db): Promise<void> {
    await sql`select from account where code = 'writeoff' for update`.execute(trx);
    for (const deadline = Date.now() + AMBUSH_MS; Date.now() < deadline; await pause(5)) {
      const [waiting] = await sessions(sql`wait_event_type = 'Lock' and ${CHARGING}`);
      if (waiting) return kill(waiting);
      // An idle transaction would run into its timeout.
      await sql`select 1`.execute(trx);
    }
  }

  async function kill(name: string): Promise<void> {
    const child = workers.get(name);
    // SIGSTOP first: the state of its sessions can then not change before the kill.
    if (!child?.kill('SIGSTOP')) return;
    workers.delete(name);
    const inside = await transactionsOf(db, name);
    gone.push(once(child, 'exit'));
    child.kill('SIGKILL');
    done.kills += 1;
    if (inside.open > 0) done.insideTransaction += 1;
    if (inside.charging > 0) done.insideCharge += 1;
    await hire();
  }

  return {
    done,
    async open(): Promise<void> {
      await Promise.all(Array.from({ length: count }, hire));
      await until('the workers are at work', async () => (await atWork()).length === count);
    },
    /** Kills one: at once or, half of the time, as soon as one is in a transaction. */
    async killOne(): Promise<void> {
      const ready = await atWork();
      // Others must be left to take over: that is measured, not how fast a process starts.
      if (ready.length < Math.max(2, count / 2)) return;
      const victim = random.pick(ready);
      if (random() < 0.5) return kill(victim);
      let inside: string[] = [];
      for (const deadline = Date.now() + AIM_MS; inside.length === 0 && Date.now() < deadline; await pause(5))
        inside = await sessions(sql`xact_start is not null`);
      await kill(inside.length > 0 ? random.pick(inside) : victim);
    },
    /**
     * Kills one in the middle of a charge that writes something off. The charge waits for the locked account, as it
     * would for the charge of another workspace.
     */
    async killInCharge(): Promise<void> {
      // One ambush at a time: two would wait for each other.
      if (isAmbushing) return;
      isAmbushing = true;
      await inTransaction(db, ambush).finally(() => {
        isAmbushing = false;
      });
    },
    async close(): Promise<void> {
      for (const child of workers.values()) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        gone.push(once(child, 'exit'));
        child.kill('SIGKILL');
      }
      await Promise.all(gone);
    },
  };
}

/** The open transactions of a stopped process: a statement may still run, or wait for another of its sessions. */
async function transactionsOf(db: Db, name: string): Promise<{ open: number; charging: number }> {
  const { rows } = await sql<{ open: number; charging: number }>`
    select count(*)::int as open, (count(*) filter (where ${CHARGING}))::int as charging from pg_stat_activity
    where datname = current_database() and application_name = ${name}
      and (state = 'idle in transaction' or (state = 'active' and wait_event_type = 'Lock'))`.execute(db);
  return rows[0]!;
}
