import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { api } from '@stagi/contract/api.ts';
import type { Context } from '@stagi/server/src/context.ts';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { openPool, type Pool } from '@stagi/server/src/db/pool.ts';
import { addSshKey, aMachine, aToken, type Machine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import type { CreatedS3Key } from '@stagi/server/src/objects/keys.ts';
import { aBucket, aKey, s3Client, type TestBucket } from '@stagi/server/src/objects/testing/bucket.ts';
import { createSecretBox, loadSecretKey } from '@stagi/server/src/secrets/secretBox.ts';
import { loadSigningKeys } from '@stagi/server/src/sessions/signingKeys.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { aContainer, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { sql } from 'kysely';
import { endOrphans } from './neighboursProcesses.ts';
import type { Account } from './neighboursWays.ts';
import { until } from './until.ts';

/** A platform as a process with a PostgreSQL of its own, and the means to make things in it. */
export interface Site {
  platform: Platform;
  pool: Pool;
  /** With what factories need. */
  app: TestApp;
  /** Somebody's who attacks. */
  account: Account;
  remove(): Promise<void>;
}

/** Somebody who only wants to work. */
export interface Resident {
  person: Person;
  token: string;
  machine: Machine;
  projectId: number;
  git: { https: string; ssh: string };
  bucket: TestBucket;
  s3Key: CreatedS3Key;
  /** Servers; the first has the container. */
  servers: number[];
  containerId: number;
}

const LARGE_BYTES = 24_000_000;
const LOG_LINES = 3_000;
const LOG_LINE_BYTES = 20_000;
const BOMB_DEPTH = 12;
const BOMB_WIDTH = 10;
const LARGE_FILE = 'large.bin';

export async function startSite(attackers: Machine): Promise<Site> {
  const platform = await spawnPlatform({ LOG_LEVEL: 'error' });
  const undo: (() => unknown)[] = [() => endOrphans(platform), () => platform.remove()];
  const remove = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const quiet = { info: () => {}, warn: () => {} };
    // Attaches to the PostgreSQL that the platform has started.
    const { url } = await startEmbeddedPostgres({ dataDir: join(platform.dataDir, 'postgres'), log: quiet });
    const pool = openPool(url, { max: 4 });
    undo.push(() => pool.close());
    const secrets = createSecretBox(loadSecretKey(null, platform.dataDir));
    const keys = await loadSigningKeys(pool.db, secrets);
    const ctx = { db: pool.db, secrets, keys, daemonOrigin: platform.url } as unknown as Context;
    const app = { url: platform.url, ctx } as unknown as TestApp;
    const site: Omit<Site, 'account'> = { platform, pool, app, remove };
    return { ...site, account: await anAttacker(site, attackers) };
  } catch (error) {
    console.error(platform.log().slice(-4_000));
    await remove();
    throw error;
  }
}

type Ground = Pick<Site, 'platform' | 'app'>;

const enter = ({ platform }: Ground, name: string): Promise<Person> =>
  signUp(platform.url, httpSender(platform.url), { name, email: `${name.toLowerCase()}@example.com` });

interface Project {
  id: number;
  slug: string;
  https: string;
  ssh: string;
}

/** A project in the person's workspace, whose repository is there. */
async function makeProject({ platform }: Ground, { client, workspaceId }: Person, token: string): Promise<Project> {
  const { entity } = await client(api.projects.create, { title: 'Code', slug: 'code' });
  const { id } = entity;
  await until('the repository is made', async () => {
    const now = await client(api.projects.view, { id });
    return now.entity.status === 'active';
  });
  const path = `${workspaceId}/code.git`;
  return {
    ...{ id, slug: 'code' },
    https: `${platform.url.replace('://', `://git:${token}@`)}/git/${path}`,
    ssh: `ssh://git@127.0.0.1:${platform.gitSshPort}/${path}`,
  };
}

async function aLog({ app }: Ground, containerId: number, lines: number, bytes: number): Promise<void> {
  const { db } = app.ctx;
  await sql`insert into log_line (container_id, seq, time_ns, stderr, text)
    select ${containerId}, n, n, false, repeat('a', ${bytes}::int) from generate_series(1, ${lines}::int) n`.execute(
    db,
  );
  await db
    .insertInto('log_head')
    .values({ container_id: containerId, last_seq: BigInt(lines) })
    .onConflict((conflict) => conflict.column('container_id').doUpdateSet({ last_seq: BigInt(lines) }))
    .execute();
}

/** An account with two workspaces of its own, and in the first what is hard to serve. */
async function anAttacker(site: Ground, machine: Machine): Promise<Account> {
  const { app, platform } = site;
  const person = await enter(site, 'Mallory');
  const bucket = await aBucket(app, person);
  const s3Key = await aKey(app, person, bucket);
  const s3 = s3Client(platform.s3Url, s3Key);
  await s3.send(new PutObjectCommand({ Bucket: bucket.name, Key: LARGE_FILE, Body: randomBytes(LARGE_BYTES) }));
  s3.destroy();
  const containerId = await aContainer(app.ctx, person, await aRentedInstance(app.ctx, person));
  await aLog(site, containerId, LOG_LINES, LOG_LINE_BYTES);

  await addSshKey(person, readFileSync(join(machine.home, 'id.pub'), 'utf8').trim());
  const workspaces: Account['workspaces'] = [];
  const home = person.workspaceId;
  const { entity: second } = await person.client(api.clients.create, { name: 'Second' });
  let projectId = 0;
  for (const id of [home, second.clientId]) {
    person.useWorkspace(id);
    const token = await aToken(app, person);
    const project = await makeProject(site, person, token);
    const folder = await machine.repository(`attack-${platform.gitSshPort}-${id}`, project.https);
    await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
    if (id === home) {
      projectId = project.id;
      await pushBomb(machine, folder);
      await pushLargeFile(machine, folder);
    }
    workspaces.push({ id, token, slug: project.slug });
  }
  return {
    ...{ workspaces, projectId, containerId, bucket: bucket.name, largeKey: LARGE_FILE, s3Key },
    ...{ bombBranch: 'bomb', largeBranch: 'large', largeFile: LARGE_FILE },
    sshKey: readFileSync(join(machine.home, 'id'), 'utf8'),
  };
}

/** A tree of trees of trees, each with the same ones: a few KB that are 10^12 files. */
async function pushBomb(machine: Machine, folder: string): Promise<void> {
  const made = async (args: string[], input?: string): Promise<string> =>
    (await machine.ok(args, { cwd: folder, ...(input !== undefined && { input }) })).trim();
  let entry = `100644 blob ${await made(['hash-object', '-w', '--stdin'], 'nothing\n')}`;
  for (let level = 0; level < BOMB_DEPTH; level += 1) {
    const lines = Array.from({ length: BOMB_WIDTH }, (_, n) => `${entry}\t${n}\n`).join('');
    entry = `040000 tree ${await made(['mktree'], lines)}`;
  }
  const commit = await made(['commit-tree', '-m', 'Bomb', entry.split(' ')[2]!]);
  await machine.ok(['push', '-q', 'origin', `${commit}:refs/heads/bomb`], { cwd: folder });
}

async function pushLargeFile(machine: Machine, folder: string): Promise<void> {
  const large = ['-c', 'core.compression=0', '-c', 'core.bigFileThreshold=1m'];
  writeFileSync(join(folder, LARGE_FILE), randomBytes(LARGE_BYTES));
  await machine.ok([...large, 'add', '-A'], { cwd: folder });
  await machine.ok([...large, 'commit', '-q', '-m', 'Large'], { cwd: folder });
  await machine.ok([...large, 'push', '-q', 'origin', 'main:large'], { cwd: folder });
}

/** `servers`: of them the first has the container. */
export async function aResident(site: Ground, servers: number): Promise<Resident> {
  const { app } = site;
  const person = await enter(site, 'Alice');
  const machine = aMachine();
  await addSshKey(person, await machine.sshKey());
  const token = await aToken(app, person);
  const project = await makeProject(site, person, token);
  const folder = await machine.repository('home', project.https);
  for (const name of ['one', 'two', 'three']) await machine.commit(folder, `${name}.txt`, `${name}\n`.repeat(100));
  await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
  const bucket = await aBucket(app, person);
  const ids: number[] = [];
  for (let n = 0; n < servers; n += 1) ids.push(await aRentedInstance(app.ctx, person));
  const containerId = await aContainer(app.ctx, person, ids[0]!);
  await aLog(site, containerId, 1_000, 80);
  return {
    ...{ person, token, machine, projectId: project.id, git: project, bucket, servers: ids, containerId },
    s3Key: await aKey(app, person, bucket),
  };
}
