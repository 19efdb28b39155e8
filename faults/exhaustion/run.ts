import { setTimeout as pause } from 'node:timers/promises';
import type { Db } from '@stagi/server/src/db/schema.ts';
import { sql } from 'kysely';
import type { Random } from '../random.ts';
import { until } from '../until.ts';
import type { Opening } from './arithmetic.ts';
import { type Audit, audit } from './audit.ts';
import { creditHours, leaveSeconds } from './burn.ts';
import { type Customer, type Order, openStage } from './stage.ts';
import { type Kills, keepWorkers } from './workers.ts';

export interface ExhaustionPlan {
  orders: readonly Order[];
  workers: number;
  killEveryMs: readonly [number, number];
  /** In so many of the workspaces without a credit the worker is killed that takes the last of the balance. */
  ambushes: number;
  /** How long balances last once they are spent down. */
  lastsMs: readonly [number, number];
  /** When a credit comes, counted from the moment at which the balance is used up. */
  creditAfterMs: readonly [number, number];
  env: Record<string, string>;
}

export interface ExhaustionReport extends Kills, Audit {
  servers: number;
  workspaces: number;
  /**
   * Workspaces that got a credit while their balance ran out, and those of them whose servers were started again for
   * it.
   */
  credited: number;
  startedAgain: number;
}

const PATIENCE_MS = 180_000;
/** An ambush starts this long before the end of the balance. */
const EARLY_MS = 500;

/** Balances run out with servers at sixty times their price, while the workers that charge and stop them are killed. */
export async function runExhaustion(
  database: { url: string },
  plan: ExhaustionPlan,
  random: Random,
  say: (line: string) => void,
): Promise<ExhaustionReport> {
  const stage = await openStage(database.url, plan.orders, plan.env);
  const { db, customers } = stage;
  const workers = keepWorkers(db, random, { count: plan.workers, launch: stage.launchWorker });
  try {
    await workers.open();
    await stage.rentAll(random);
    const servers = customers.reduce((sum, { stoppable, fixed }) => sum + stoppable + fixed, 0);
    say(`exhaustion: ${servers} servers of ${customers.length} workspaces run`);

    const ambushed = new Set(customers.filter(({ isCredited }) => !isCredited).slice(0, plan.ambushes));
    const burns = customers.map((customer) => ({
      customer,
      firstMs: random.between(...plan.lastsMs),
      creditMs: random.between(...plan.creditAfterMs),
      lastMs: random.between(...plan.lastsMs),
    }));
    let startedAgain = 0;
    const openings = new Map<Customer, Opening>();
    const killing = keepKilling(workers, plan, random);
    const burning = burns.map(async ({ customer, firstMs, creditMs, lastMs }) => {
      const { workspaceId, isCredited } = customer;
      if (isCredited && (await burnWithCredit(db, customer, firstMs, creditMs))) startedAgain += 1;
      openings.set(customer, await leaveMs(db, workspaceId, lastMs, 'last'));
      if (ambushed.has(customer)) await pause(lastMs - EARLY_MS).then(workers.killInCharge);
      await until(`workspace ${workspaceId} is at zero and settled`, () => isSettled(db, workspaceId), PATIENCE_MS);
    });
    await Promise.all(burning).finally(killing.stop);
    say(`exhaustion: all are at zero, ${workers.done.kills} workers were killed`);
    await until('every server is stopped or gone and told of', () => isQuiet(db), PATIENCE_MS);
    return {
      ...workers.done,
      servers,
      workspaces: customers.length,
      credited: customers.filter(({ isCredited }) => isCredited).length,
      startedAgain,
      ...(await audit(stage, openings)),
    };
  } finally {
    await workers.close();
    await stage.close();
  }
}

function keepKilling(
  workers: ReturnType<typeof keepWorkers>,
  { killEveryMs }: ExhaustionPlan,
  random: Random,
): { stop(): Promise<void> } {
  let isOver = false;
  const killing = (async () => {
    while (!isOver) {
      await pause(random.between(...killEveryMs));
      if (!isOver) await workers.killOne();
    }
  })();
  // `stop` returns the error, whenever that comes.
  killing.catch(() => {});
  return {
    stop() {
      isOver = true;
      return killing;
    },
  };
}

/**
 * Lets a balance run out and credits it at about the moment it is used up. Resolves when everything that can runs
 * again; returns whether something had been stopped.
 */
async function burnWithCredit(db: Db, customer: Customer, lastsMs: number, creditAfterMs: number): Promise<boolean> {
  const { workspaceId, stoppable } = customer;
  await leaveMs(db, workspaceId, lastsMs, 'first');
  await pause(lastsMs + creditAfterMs);
  await creditHours(db, workspaceId, `exhaustion:${workspaceId}:credit`);
  await until(`workspace ${workspaceId} runs again`, () => runsAgain(db, workspaceId, stoppable), PATIENCE_MS);
  const { rows } = await sql`select 1 from segment
    where client_id = ${workspaceId} and rate = 'running' and ended_at is not null limit 1`.execute(db);
  return rows.length > 0;
}

const leaveMs = (db: Db, workspaceId: number, ms: number, which: string): Promise<Opening> =>
  leaveSeconds(db, workspaceId, ms / 1_000, `exhaustion:${workspaceId}:${which}`);

async function runsAgain(db: Db, workspaceId: number, stoppable: number): Promise<boolean> {
  const { rows } = await sql<{ running: number }>`select count(*)::int as running
    from workspace w join instance i on i.workspace_id = w.id
      join segment s on s.kind = 'instance' and s.resource_id = i.id and s.ended_at is null and s.rate = 'running'
    where w.id = ${workspaceId} and w.exhausted_at is null and i.status = 'online' and i.zero_stopped_at is null
      and i.offer ->> 'canStop' = 'true'`.execute(db);
  return rows[0]!.running === stoppable;
}

async function isSettled(db: Db, workspaceId: number): Promise<boolean> {
  const { rows } = await sql<{ over: boolean }>`select w.exhausted_at is not null and not exists (
      select 1 from segment s where s.client_id = w.id and s.rate = 'running' and not s.settled
    ) as over from workspace w where w.id = ${workspaceId}`.execute(db);
  return rows[0]!.over;
}

async function isQuiet(db: Db): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`select
    (select count(*)::int from instance where status not in ('stopped', 'terminated'))
      + (select count(*)::int from workspace_meter where notices = 0) as n`.execute(db);
  return rows[0]!.n === 0;
}
