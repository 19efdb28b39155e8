import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { openPool, type Pool } from '@stagi/server/src/db/pool.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { createSecretBox, loadSecretKey } from '@stagi/server/src/secrets/secretBox.ts';
import { loadSigningKeys } from '@stagi/server/src/sessions/signingKeys.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { type HerdNews, type HerdOrder, preciseNow } from './herd.ts';

const PATIENCE_MS = 120_000;
const ONLINE_WITHIN_MS = 20_000;

export interface HerdPlan {
  daemons: number;
  /** Changes that reach every daemon, one after another. */
  changes: number;
  /** How long the platform is down at each restart. The first one is a requested stop, the others are kills. */
  downMs: number[];
  /** How long only heartbeats are observed. */
  idleMs: number;
}

export interface HerdReport {
  daemons: number;
  /** From the call to its arrival at each daemon, for all changes. */
  changeMs: number[];
  callMs: number[];
  /** From the first possible connection to the return of the last daemon, for each restart. */
  backMs: number[];
  /** New links in the busiest second after a restart. */
  peakLinks: number;
  /** Memory of the platform for each link: with all links, less without any. */
  bytesEach: number;
  /** Load of one core, with heartbeats alone. */
  idleCpu: number;
  /** Servers that were not online at the end, and unexpected messages. */
  wrong: string[];
}

/** A platform with `daemons` servers of one person, each with the daemon of `herd.ts`. */
export async function runHerd(plan: HerdPlan, say: (line: string) => void): Promise<HerdReport> {
  const platform = await spawnPlatform({ LOG_LEVEL: 'error' });
  const { url: databaseUrl } = await startEmbeddedPostgres({ dataDir: join(platform.dataDir, 'postgres'), log: quiet });
  const pool = openPool(databaseUrl, { max: 4 });
  const herd = await startHerd();
  try {
    const alice = await signUp(platform.url, httpSender(platform.url), { name: 'Alice', email: 'alice@example.com' });
    const keys: number[] = [];
    for (let n = 0; n <= plan.changes; n += 1)
      keys.push((await alice.client(api.sshKeys.generate, { title: `key ${n}` })).entity.id);
    const servers = await makeServers(platform, pool, alice, plan.daemons, keys);
    const before = await measure(platform);
    herd.send({ kind: 'join', url: platform.url, tokens: servers.map(({ token }) => token) });
    await herd.until(() => herd.up.size === plan.daemons, 'all daemons are connected');
    await herd.until(() => herd.keys(keys.length) === plan.daemons, 'all know what is wanted of them');
    say(`${plan.daemons} daemons are connected`);

    const settled = await measure(platform);
    await pause(plan.idleMs);
    const after = await measure(platform);
    const report: HerdReport = {
      daemons: plan.daemons,
      changeMs: [],
      callMs: [],
      backMs: [],
      peakLinks: 0,
      bytesEach: (after.bytes - before.bytes) / plan.daemons,
      idleCpu: (after.cpuSeconds - settled.cpuSeconds) / ((after.at - settled.at) / 1000),
      wrong: [],
    };
    for (let n = 1; n <= plan.changes; n += 1) {
      const since = preciseNow();
      await alice.client(api.sshKeys.delete, { id: keys[n]! });
      report.callMs.push(preciseNow() - since);
      const left = keys.length - n;
      await herd.until(() => herd.keys(left) === plan.daemons, `change ${n} has reached all`);
      report.changeMs.push(...herd.arrivals().map((at) => at - since));
      say(`change ${n}: all have it after ${(Math.max(...herd.arrivals()) - since).toFixed(0)} ms`);
    }
    for (const [n, downMs] of plan.downMs.entries()) {
      await platform.stop(n === 0 ? 'SIGTERM' : 'SIGKILL');
      await herd.until(() => herd.up.size === 0, 'all have lost their link');
      await pause(downMs);
      await platform.start();
      const since = preciseNow();
      await herd.until(() => herd.up.size === plan.daemons, 'all are back');
      const times = [...herd.up.values()];
      report.backMs.push(Math.max(...times) - since);
      report.peakLinks = Math.max(report.peakLinks, busiestSecond(times));
      say(`down for ${downMs / 1000} s: all are back ${report.backMs.at(-1)!.toFixed(0)} ms after the platform`);
    }
    report.wrong.push(...herd.wrong, ...(await notOnline(pool, plan.daemons)));
    return report;
  } catch (error) {
    console.error(platform.log().slice(-4_000));
    throw error;
  } finally {
    await herd.stop();
    await pool.close();
    await platform.remove();
  }
}

/** Rented servers that are online, each with all the keys, and an enrolment file for each. */
async function makeServers(platform: Platform, pool: Pool, owner: Person, count: number, keys: readonly number[]) {
  const secrets = createSecretBox(loadSecretKey(null, platform.dataDir));
  const ctx = { keys: await loadSigningKeys(pool.db, secrets), daemonOrigin: platform.url };
  const servers: { id: number; token: string }[] = [];
  for (let n = 0; n < count; n += 1) {
    const id = await aRentedInstance({ db: pool.db } as Parameters<typeof aRentedInstance>[0], owner);
    await pool.db
      .insertInto('instance_ssh_key')
      .values(keys.map((ssh_key_id) => ({ instance_id: id, ssh_key_id })))
      .execute();
    servers.push({ id, token: (await issueEnrolment(ctx, pool.db, id, 'rented')).token });
  }
  return servers;
}

/** A daemon that has reconnected still has to send its hello: waits for the last of them. */
async function notOnline(pool: Pool, daemons: number): Promise<string[]> {
  for (const deadline = Date.now() + ONLINE_WITHIN_MS; ; await pause(200)) {
    const { count } = await pool.db
      .selectFrom('instance')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .where('status', '=', 'online')
      .executeTakeFirstOrThrow();
    if (Number(count) === daemons) return [];
    if (Date.now() > deadline) return [`only ${count} of ${daemons} servers are online at the end`];
  }
}

async function measure({ metricsUrl }: Platform): Promise<{ bytes: number; cpuSeconds: number; at: number }> {
  const text = await (await fetch(metricsUrl)).text();
  const value = (name: string): number => Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1]);
  return {
    bytes: value('process_resident_memory_bytes'),
    cpuSeconds: value('process_cpu_seconds_total'),
    at: preciseNow(),
  };
}

function busiestSecond(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
}

async function startHerd() {
  const child: ChildProcess = fork(join(import.meta.dirname, 'herd.ts'), {
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  });
  const up = new Map<string, number>();
  const desired = new Map<string, { at: number; keys: number }>();
  const wrong: string[] = [];
  let look = (): void => {};
  child.on('message', (news: HerdNews) => {
    if (news.kind === 'up') up.set(news.node, news.at);
    if (news.kind === 'down') up.delete(news.node);
    if (news.kind === 'desired') desired.set(news.node, news);
    if (news.kind === 'wrong') wrong.push(news.what);
    look();
  });
  await once(child, 'spawn');
  return {
    up,
    wrong,
    send: (order: HerdOrder) => child.send(order),
    /** How many daemons have received exactly this many keys. */
    keys: (count: number) =>
      desired
        .values()
        .filter(({ keys }) => keys === count)
        .toArray().length,
    arrivals: () => [...desired.values()].map(({ at }) => at),
    async until(holds: () => boolean, what: string): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setTimeout(
        () =>
          reject(new Error(`waited ${PATIENCE_MS / 1000} s in vain until ${what}; ${wrong.slice(0, 5).join('; ')}`)),
        PATIENCE_MS,
      );
      look = () => {
        if (holds()) resolve();
      };
      look();
      await promise.finally(() => clearTimeout(timer));
    },
    async stop(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

const quiet = { info: () => {}, warn: () => {} };
