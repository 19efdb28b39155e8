import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { changeStorage, storagesOf } from '@stagi/server/src/billing/meteredWorkspace.ts';
import { openPool, type Pool } from '@stagi/server/src/db/pool.ts';
import type { Db } from '@stagi/server/src/db/schema.ts';
import { type FakeCloudProcess, spawnFakeCloud } from '@stagi/server/src/providers/fake/control.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { aFolder, spawnPlatform } from '../crash/platform.ts';
import type { Random } from '../random.ts';
import { until } from '../until.ts';
import { watchBalances } from './watch.ts';

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
const CLOUD_SPEED = 50;
/** Sixty times the prices of the clouds: an hour's money lasts a minute. */
const MARKUP_PERCENT = '5900';
/** Covers an hour of everything and the reserves, which renting requires. */
const STARTER_CREDIT = '200000';
const CHEAP = 'fake:sim-cpu-4';
const STOPPABLE = [CHEAP, CHEAP, CHEAP, 'fake:sim-l4-1'];
const FIXED = ['fake-fixed:sim-cpu-4', 'fake-fixed:sim-cpu-4', 'fake-fixed:sim-l4-1'];
const RENTS_AT_ONCE = 4;
const PATIENCE_MS = 180_000;

export interface Customer {
  person: Person;
  workspaceId: number;
  /** The number of servers whose cloud can stop them, and of those whose cloud cannot. */
  stoppable: number;
  fixed: number;
  /** Gets a credit at about the moment its balance runs out. */
  isCredited: boolean;
}

export interface Stage {
  db: Db;
  url: string;
  clouds: readonly FakeCloudProcess[];
  launchWorker(name: string): Promise<ChildProcess>;
  /** A customer whose servers all run. */
  customers: readonly Customer[];
  /** Rents everything, and a storage for each customer; needs running workers. */
  rentAll(random: Random): Promise<void>;
  close(): Promise<void>;
}

export type Order = Pick<Customer, 'stoppable' | 'fixed' | 'isCredited'>;

/** The API of the platform as a process, two simulated clouds as others, and customers who have signed up. */
export async function openStage(
  databaseUrl: string,
  orders: readonly Order[],
  env: Record<string, string>,
): Promise<Stage> {
  const environment = `zero-${Date.now().toString(36)}`;
  const folder = aFolder(environment);
  const clouds: FakeCloudProcess[] = [];
  let server: ChildProcess | null = null;
  const pool: Pool = openPool(databaseUrl, { max: 6 });

  const launch = async (name: string, role: 'api' | 'worker', port: number): Promise<ChildProcess> => {
    const url = new URL(databaseUrl);
    url.searchParams.set('application_name', name);
    const [stopping, fixed] = clouds;
    return spawnPlatform({
      environment,
      folder,
      port,
      databaseUrl: url.href,
      cloudUrl: stopping!.url,
      role,
      env: {
        STAGI_SECRET_KEY: SECRET_KEY,
        FAKE_FIXED_CLOUD_URL: fixed!.url,
        MARKUP_PERCENT,
        STARTER_CREDIT,
        ...env,
      },
    });
  };

  async function close(): Promise<void> {
    if (server && server.exitCode === null && server.signalCode === null) {
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
    }
    await Promise.all(clouds.map((cloud) => cloud.kill()));
    await pool.close();
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    await watchBalances(pool.db);
    for (const name of ['stopping', 'fixed']) {
      const cloud = await spawnFakeCloud({ statePath: join(folder, `${name}.json`), provisionMs: 5_000 });
      clouds.push(cloud);
      await cloud.control.clock({ scale: CLOUD_SPEED });
    }
    const port = await freePort();
    server = await launch('api', 'api', port);
    const url = `http://127.0.0.1:${port}`;
    await until('the platform serves', async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok, 120_000);
    const customers = await Promise.all(
      orders.map(async (order, n) => {
        const email = `kim${n}@${environment}.example.com`;
        const person = await signUp(url, httpSender(url), { name: `Kim ${n}`, email });
        return { ...order, person, workspaceId: person.workspaceId };
      }),
    );
    await sql`update workspace set plan = 'Enterprise'`.execute(pool.db);
    return {
      db: pool.db,
      url,
      clouds,
      customers,
      launchWorker: async (name) => launch(name, 'worker', await freePort()),
      async rentAll(random) {
        await Promise.all(customers.map((customer) => rentServers(customer, random)));
        await until('every server runs', () => allRun(pool.db, customers), PATIENCE_MS);
        for (const { person } of customers) await rentStorage(pool.db, person);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function rentServers({ person: { client }, stoppable, fixed }: Customer, random: Random): Promise<void> {
  const { entity: key } = await client(api.sshKeys.generate, { title: 'laptop' });
  const offers = random.shuffle([
    // Beside servers that cannot be stopped only cheap ones: the rest of the reserve would pay for hours of them.
    ...Array.from({ length: stoppable }, () => (fixed > 0 ? CHEAP : random.pick(STOPPABLE))),
    ...Array.from({ length: fixed }, () => random.pick(FIXED)),
  ]);
  const waiting = offers.map((offerId, n) => ({
    offerId,
    title: `Server ${n}`,
    slug: `server-${n}`,
    sshKeyId: key.id,
  }));
  await Promise.all(
    Array.from({ length: RENTS_AT_ONCE }, async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) await client(api.instances.rent, next);
    }),
  );
}

/** About as dear as a server, with a price of a month that no hour divides. */
async function rentStorage(db: Db, owner: Person): Promise<void> {
  const [id] = await storagesOf(db, owner, 1, { pricePerMonth: 730n * 3_000_000n + 1n });
  await changeStorage(db, id!, { status: 'rented' });
}

async function allRun(db: Db, customers: readonly Customer[]): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from instance i
    join segment s on s.kind = 'instance' and s.resource_id = i.id and s.ended_at is null and s.rate = 'running'
    where i.status = 'online'`.execute(db);
  return rows[0]!.n === customers.reduce((sum, { stoppable, fixed }) => sum + stoppable + fixed, 0);
}
