import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { spawnFakeCloud } from '@stagi/server/src/providers/fake/control.ts';
import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import pg from 'pg';
import { aFolder, spawnPlatform } from '../crash/platform.ts';
import {
  aRentedServer,
  findLeakedMachines,
  OPERATION,
  RENTED_STEPS,
  type RentedServer,
  type RentedStep,
} from '../crash/rented.ts';
import { CLOUD_SPEED } from '../crash/stage.ts';
import { until } from '../until.ts';

/** Shared by all processes on one database. */
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

export interface PauseResult {
  /** Steps that were paused between the call to the cloud and recording its result. */
  frozen: number;
  /** Of them, those that another worker took over. */
  takenOver: number;
  /** Writes by a process whose lease another had taken. */
  staleApplies: number;
  orphans: number;
  duplicates: number;
}

/**
 * Two workers on one database. One is paused with SIGSTOP while it waits for the cloud, for longer than its lease; the
 * other takes its servers over; then the first continues. An audit in the database records every write of a process that
 * no longer held the lease.
 */
export async function runPauses(options: {
  steps: readonly RentedStep[];
  servers: number;
  pauseMs: number;
  leaseS: number;
}): Promise<PauseResult> {
  const database = await createTestDatabase();
  const folder = aFolder('pause');
  const cloud = await spawnFakeCloud({ statePath: join(folder, 'cloud.json'), provisionMs: 5_000 });
  await cloud.control.clock({ scale: CLOUD_SPEED });
  const db = new pg.Pool({ connectionString: database.url, max: 4, application_name: 'fault-run' });
  // The database is dropped under connections that are closing.
  db.on('error', () => {});
  await db.query(AUDIT);
  const started: ChildProcess[] = [];
  const name = `pause-${Date.now().toString(36)}`;

  async function run(process_: string, role: 'api' | 'worker'): Promise<{ child: ChildProcess; url: string }> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const databaseUrl = new URL(database.url);
    databaseUrl.searchParams.set('application_name', process_);
    const child = spawnPlatform({
      environment: name,
      folder,
      port,
      databaseUrl: databaseUrl.href,
      cloudUrl: cloud.url,
      role,
      env: { STAGI_SECRET_KEY: SECRET_KEY, LEASE_SECONDS: String(options.leaseS) },
    });
    started.push(child);
    return { child, url };
  }

  const result: PauseResult = { frozen: 0, takenOver: 0, staleApplies: 0, orphans: 0, duplicates: 0 };
  try {
    const { url } = await run('api', 'api');
    await until('the platform serves', async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok, 60_000);
    const customer: Person = await signUp(url, httpSender(url), { name: 'Kim', email: `kim@${name}.example.com` });
    await db.query("update workspace set plan = 'Enterprise'");
    const stage = { name, url, cloud, customer, db };
    const servers = await Promise.all(Array.from({ length: options.servers }, () => aRentedServer(stage)));
    const first = await run('first', 'worker');
    await workerIs(db, 'first');

    for (const step of options.steps) {
      await freeze(step, servers, first.child);
    }
    const { rows } = await db.query('select count(*)::int as n from stale_write');
    result.staleApplies = rows[0].n;
    const left = await findLeakedMachines(stage);
    result.orphans = left.orphans.length;
    result.duplicates = left.duplicates.length;
  } finally {
    for (const child of started) {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    await cloud.kill();
    await db.end();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }
  return result;

  async function freeze(step: RentedStep, servers: readonly RentedServer[], first: ChildProcess): Promise<void> {
    const operation = OPERATION[step];
    await cloud.control.fault(operation, { kind: 'slow', delayMs: options.pauseMs }, null);
    await Promise.all(servers.map((server) => server.ask(step)));
    const ids = servers.map((server) => server.id());
    await until(`the cloud is asked to ${operation} all`, async () => {
      const { events } = await cloud.control.report();
      const asked = new Set(events.filter((event) => event.operation === operation).map((event) => event.name));
      return ids.every((id) => asked.has(`stagi-${name}-${id}`));
    });
    first.kill('SIGSTOP');
    result.frozen += servers.length;
    const resumeAt = Date.now() + options.pauseMs;
    await cloud.control.clearFaults();
    const held = await tokensOf(db, ids);
    const second = await run('second', 'worker');
    await Promise.all(servers.map((server) => server.reached(step)));
    const now = await tokensOf(db, ids);
    result.takenOver += ids.filter((id) => now.get(id) !== held.get(id)).length;
    await pause(Math.max(0, resumeAt - Date.now()));
    first.kill('SIGCONT');
    second.child.kill('SIGTERM');
    await once(second.child, 'exit');
    // The steps that the first worker had begun are over when it claims again: the next step is its own.
    await settled(db);
  }
}

export function formatPauseResult({ frozen, takenOver, staleApplies, orphans, duplicates }: PauseResult): string {
  return `n = ${frozen} steps frozen, ${takenOver} taken over, ${staleApplies} stale applies, ${orphans} orphans, ${duplicates} duplicates`;
}

export const EVERY_STEP = RENTED_STEPS;

async function workerIs(db: pg.Pool, process_: string): Promise<void> {
  await until(`the worker ${process_} is there`, async () => {
    const { rows } = await db.query(`select 1 from pg_stat_activity where application_name = $1`, [process_]);
    return rows.length > 0;
  });
}

async function tokensOf(db: pg.Pool, ids: readonly number[]): Promise<Map<number, string | null>> {
  const { rows } = await db.query('select id, lock_token from instance where id = any($1)', [ids]);
  return new Map(rows.map(({ id, lock_token }) => [id, lock_token]));
}

async function settled(db: pg.Pool): Promise<void> {
  await until('nobody holds anything', async () => {
    const { rows } = await db.query('select 1 from instance where lock_token is not null');
    return rows.length === 0;
  });
}

/**
 * The process that sets a token is its holder. A write is stale when it ends a step (an update of the columns below)
 * and its worker does not hold the token of the row, unless the worker has released its token in the same transaction.
 */
const AUDIT = `
  create table lease_holder (token uuid primary key, process text not null);
  create table lease_freed (instance_id int, transaction xid8, primary key (instance_id, transaction));
  create table stale_write (instance_id int, process text, was text, became text);
  create function audit_lease() returns trigger language plpgsql as $$
  begin
    if new.lock_token is not null and new.lock_token is distinct from old.lock_token then
      insert into lease_holder values (new.lock_token, current_setting('application_name'));
    elsif new.lock_token is null and exists (
      select from lease_holder where token = old.lock_token and process = current_setting('application_name')
    ) then
      insert into lease_freed values (new.id, pg_current_xact_id());
    end if;
    return null;
  end $$;
  create function audit_write() returns trigger language plpgsql as $$
  declare me text := current_setting('application_name');
  begin
    if me in ('first', 'second')
      and not exists (select from lease_holder where token = old.lock_token and process = me)
      and not exists (select from lease_freed where instance_id = new.id and transaction = pg_current_xact_id())
    then insert into stale_write values (new.id, me, old.status, new.status); end if;
    return null;
  end $$;
  create trigger a_lease after update of lock_token on instance for each row execute function audit_lease();
  create trigger b_write after update of status, attempts, progress on instance for each row execute function audit_write();`;
