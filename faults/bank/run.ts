import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openAccounts, openSystemAccounts } from '@stagi/server/src/billing/accounts.ts';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { migrate } from '@stagi/server/src/db/migrate.ts';
import { openPool, type Pool } from '@stagi/server/src/db/pool.ts';
import { verifyLedger } from '@stagi/server/src/ledger/verify.ts';
import { killPostgres } from '@stagi/server/src/testing/killPostgres.ts';
import pg from 'pg';
import type { Random } from '../random.ts';
import { until } from '../until.ts';
import { findDifferences } from './audit.ts';
import { type Order, orderBook, type Receipt } from './orders.ts';

export interface BankPlan {
  kills: number;
  /** The kills of PostgreSQL, included in `kills`. */
  databaseKills: number;
}

export interface BankReport {
  kills: number;
  databaseKills: number;
  /** Kills of a process whose database session was idle in a transaction. */
  insideTransaction: number;
  journals: number;
  orders: number;
  /** Orders that were sent again because their teller died. */
  sentAgain: number;
  /** The difference in micro-units between the receipts and the accounts, over all accounts. */
  drift: bigint;
  /** The difference between the number of journals and of orders that moved something. */
  duplicates: number;
  problems: string[];
}

const TELLERS = 4;
const SPARES = 3;
const ORDERS_AT_ONCE = 2;
const WORKSPACES = 12;

/** Tellers book what customers order while both they and the database are killed; then everything is added up. */
export async function runBank(plan: BankPlan, random: Random, say: (line: string) => void): Promise<BankReport> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-bank-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: { info() {}, warn() {} } });
  await migrate(postgres.url);
  const pool = openPool(postgres.url, { max: 3 });
  const bank = openBank(postgres.url, random, await openWorkspaces(pool));
  const report = { kills: 0, databaseKills: 0, insideTransaction: 0 };
  try {
    await bank.isOpen();
    while (report.kills < plan.kills) {
      await pause(random.between(100, 400));
      const killed = await bank.killOne(postgres.url);
      if (killed === null) continue;
      report.kills += 1;
      if (killed === 'inside') report.insideTransaction += 1;
      if (
        report.databaseKills < plan.databaseKills &&
        report.kills >= ((report.databaseKills + 1) * plan.kills) / (plan.databaseKills + 1)
      ) {
        await killPostgres(folder, postgres.url);
        report.databaseKills += 1;
        say(
          `${report.kills} tellers and ${report.databaseKills} databases killed, ${bank.receipts.size} orders booked`,
        );
      }
    }
    await bank.finish();
    const verdict = await verifyLedger(pool.db);
    const found = await findDifferences(pool.db, bank.receipts);
    return {
      ...report,
      ...found,
      journals: verdict.journals,
      orders: bank.receipts.size,
      sentAgain: bank.sentAgain(),
      problems: verdict.findings.map(({ about, id, problem }) => `${about} ${id}: ${problem}`),
    };
  } finally {
    bank.close();
    await pool.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openWorkspaces({ db }: Pool): Promise<number[]> {
  await openSystemAccounts(db);
  const ids: number[] = [];
  for (let n = 0; n < WORKSPACES; n += 1) {
    const { id } = await db
      .insertInto('workspace')
      .values({ name: `Customer ${n}`, personal_of: null })
      .returning('id')
      .executeTakeFirstOrThrow();
    await openAccounts(db, id);
    ids.push(id);
  }
  return ids;
}

interface Teller {
  child: ChildProcess;
  orders: Map<number, Order>;
}

/** Keeps the tellers busy, and gives each order to a teller until there is a receipt for it. */
function openBank(url: string, random: Random, workspaces: readonly number[]) {
  const book = orderBook(random, workspaces);
  const receipts = new Map<number, { order: Order; moved: bigint }>();
  const lost: Order[] = [];
  const tellers = new Set<Teller>();
  /** Includes killed tellers whose exit is not known yet: they keep their orders until then. */
  const alive = new Set<Teller>();
  const spares: Teller[] = [];
  let starting = 0;
  let sentAgain = 0;
  let isClosing = false;
  fill();

  return {
    receipts,
    sentAgain: () => sentAgain,
    isOpen: () => until('the bank has its tellers', async () => tellers.size === TELLERS),
    /** Whether it was killed within a transaction; null when there are too few left to kill one. */
    async killOne(database: string): Promise<'inside' | 'outside' | null> {
      if (tellers.size < TELLERS - 1) return null;
      const teller = random.pick([...tellers]);
      // SIGSTOP first: the state of its session can then not change before the kill.
      if (!teller.child.kill('SIGSTOP')) return null;
      tellers.delete(teller);
      const inside = await waitsForTeller(database, teller.child.pid!);
      teller.child.kill('SIGKILL');
      return inside ? 'inside' : 'outside';
    },
    async finish(): Promise<void> {
      isClosing = true;
      await until('every order has its receipt', async () => {
        fill();
        for (const teller of tellers) if (teller.orders.size < ORDERS_AT_ONCE) serve(teller);
        return lost.length === 0 && [...alive].every(({ orders }) => orders.size === 0);
      });
    },
    close(): void {
      isClosing = true;
      for (const { child } of alive) child.kill('SIGKILL');
    },
  };

  function fill(): void {
    while (tellers.size < TELLERS) {
      const spare = spares.pop();
      if (!spare) break;
      tellers.add(spare);
      for (let n = 0; n < ORDERS_AT_ONCE; n += 1) serve(spare);
    }
    while (starting + tellers.size + spares.length < TELLERS + SPARES) hire();
  }

  function hire(): void {
    starting += 1;
    let isReady = false;
    const child = fork(join(import.meta.dirname, 'teller.ts'), {
      env: { ...process.env, BANK_DATABASE_URL: url },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const teller: Teller = { child, orders: new Map() };
    alive.add(teller);
    child.on('message', (message: { ready?: true } & Partial<Receipt> & { error?: string }) => {
      if (message.ready) {
        isReady = true;
        starting -= 1;
        spares.push(teller);
        fill();
      } else answer(teller, message);
    });
    child.on('exit', () => {
      if (!isReady) starting -= 1;
      tellers.delete(teller);
      alive.delete(teller);
      if (spares.includes(teller)) spares.splice(spares.indexOf(teller), 1);
      sentAgain += teller.orders.size;
      lost.push(...teller.orders.values());
      // A receipt that arrives after the exit of its teller is ignored: there will be another.
      teller.orders.clear();
      if (!isClosing || lost.length > 0) fill();
      for (const other of tellers) if (lost.length > 0 && other.orders.size < ORDERS_AT_ONCE) serve(other);
    });
  }

  function answer(teller: Teller, { id, moved, error }: Partial<Receipt> & { error?: string }): void {
    const order = teller.orders.get(id!);
    if (!order) return;
    teller.orders.delete(order.id);
    if (error === undefined) {
      receipts.set(order.id, { order, moved: BigInt(moved!) });
      book.carriedOut(order, { id: order.id, moved: moved! });
      serve(teller);
    } else {
      // The database is down: tries again after a moment.
      lost.push(order);
      setTimeout(() => serve(teller), 100);
    }
  }

  function serve(teller: Teller): void {
    if (!tellers.has(teller) || !teller.child.connected) return;
    const order = lost.shift() ?? (isClosing ? undefined : book.next());
    if (!order) return;
    teller.orders.set(order.id, order);
    teller.child.send(order, (error) => {
      // The teller is dying: its exit gives the order to another.
      if (error) teller.child.kill('SIGKILL');
    });
  }
}

/** Whether a session of this process is idle in a transaction. */
async function waitsForTeller(url: string, pid: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    const { rows } = await client.query(
      `select 1 from pg_stat_activity where application_name = $1 and state = 'idle in transaction'`,
      [`bank-${pid}`],
    );
    return rows.length > 0;
  } catch {
    // The database is down: no transaction is open.
    return false;
  } finally {
    await client.end();
  }
}
