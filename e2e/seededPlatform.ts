import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { IMAGES_FEATURE } from '@stagi/contract/daemon.ts';
import { setOperator } from '@stagi/server/src/admin/setOperator.ts';
import { openPool } from '@stagi/server/src/db/pool.ts';
import { spawnFakeCloud } from '@stagi/server/src/providers/fake/control.ts';
import { builtDaemonEnv } from '@stagi/server/src/testing/cloudApp.ts';
import { enrolNode } from '@stagi/server/src/testing/daemon.ts';
import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { httpSender, mailedCode, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { connectLiveDaemon } from './liveDaemon.ts';
import { type Platform, startPlatform } from './platform.ts';
import type { Ids } from './screens.ts';
import { until } from './waitUntil.ts';

interface Lab {
  platform: Platform;
  /** Has one of everything. */
  person: Person;
  operator: Person;
  ids: Ids;
}

/** Names of the people and of their things. */
interface Names {
  person: string;
  rented: string;
  own: string;
  container: string;
  key: string;
  storage: string;
  project: string;
  task: string;
}

/** No words of the app, so that these are not taken for them. */
export const USUAL_NAMES: Names = {
  person: 'Ada',
  rented: 'Kestrel',
  own: 'Osprey',
  container: 'Heron',
  key: 'Wren',
  storage: 'Plover',
  project: 'Merlin',
  task: 'Siskin',
};

/** A platform with a simulated cloud, and somebody who has one of everything: for stories that walk over all screens. */
export const seededTest = test.extend<object, { names: Names; lab: Lab }>({
  names: [USUAL_NAMES, { option: true, scope: 'worker' }],
  lab: [
    async ({ names }, use, worker) => {
      const folder = mkdtempSync(join(tmpdir(), 'stagi-furnished-'));
      const cloud = await spawnFakeCloud({ statePath: join(folder, 'cloud.json') });
      const database = await createTestDatabase();
      const platform = await startPlatform(`furnished${worker.workerIndex}`, {
        LOCAL_CLOUD: 'off',
        FAKE_CLOUD_URL: cloud.url,
        DATABASE_URL: database.url,
        ...builtDaemonEnv(folder),
      });
      const enter = (name: string, email: string) => signUp(platform.url, httpSender(platform.url), { name, email });
      const person = await enter(names.person, 'ada@example.com');
      const operator = await enter('Olga', 'olga@example.com');
      await makeOperator(database.url, operator);
      const { ids, close } = await furnish(platform.url, person, names);
      await furnishOperator(person, operator);
      await use({ platform, person, operator, ids });
      await close();
      await platform.stop();
      await database.drop();
      await cloud.kill();
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: 'worker', timeout: 180_000 },
  ],
});

/** As `npm run operator` does. */
async function makeOperator(databaseUrl: string, { email }: Person): Promise<void> {
  const pool = openPool(databaseUrl, { max: 1 });
  try {
    await setOperator(pool.db, 'make', email, 'Olga');
  } finally {
    await pool.close();
  }
}

/** One of what operators make or are told. */
async function furnishOperator(person: Person, operator: Person): Promise<void> {
  const expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString();
  await operator.client(api.promoCodes.create, { code: 'ROBIN', amount: '7.5', uses: 2, expiresAt, note: 'Dunlin' });
  await operator.client(api.signUpLinks.create, { note: 'Dunlin', uses: 2, expiresAt });
  await person.client(api.feedback.send, { topic: 'Report an issue', subject: 'Dunlin', description: 'Robin' });
  const about = { model: { id: 'qwen/qwen3-8b', name: 'Qwen3 8B' }, gpu: 'H100 80GB' };
  const contact = { topic: 'A model', name: 'Robin', email: 'robin@example.com', message: 'Dunlin', about } as const;
  await person.client(api.contact.send, contact);
}

/** A server rented, one attached, a container on it, a storage with a key, a project with code, a task and a schedule, and an empty one. */
async function furnish(
  url: string,
  { client, email }: Person,
  names: Names,
): Promise<{ ids: Ids; close(): Promise<void> }> {
  const { entity: key } = await client(api.sshKeys.generate, { title: names.key });
  const offer = await until('the simulated cloud has offers', 30_000, async () => {
    const { entities } = await client(api.hardware.offers, { entityFilterRequest: {} });
    return entities[0];
  });
  const { entity: rented } = await client(api.instances.rent, {
    offerId: offer.offerId,
    title: names.rented,
    slug: 'training',
    sshKeyId: key.id,
  });
  const { entity: own, daemonToken } = await client(api.selfHosted.create, { title: names.own, slug: 'lab-3' });
  const vulnerableRunc = { version: '1.1.5+ds1-1+deb12u1', cves: ['CVE-2025-31133'] };
  const daemon = await connectLiveDaemon(url, await enrolNode(url, daemonToken), {
    facts: { vulnerableRunc },
    features: ['tasks', IMAGES_FEATURE],
  });
  daemon.inventory.images = [{ reference: 'busybox:latest', sizeBytes: 4e6, createdAt: null, ours: true }];
  daemon.sendInventory();
  const { entities: containers } = await client(api.containers.create, {
    instanceRef: { id: own.id },
    title: names.container,
    slug: 'web',
    dockerImage: 'nginx:1.29',
    env: [],
    cpus: 1,
    gpuIds: [],
    portMappings: [],
    directoryMappings: [{ host: '/srv/models', container: '/models' }],
    restartPolicy: 'no',
    count: 1,
  });
  const { entity: storage } = await client(api.storages.create, {
    title: names.storage,
    slug: 'winter-data',
    sizeGb: 10,
    location: 'local',
  });
  await until('the storage is rented', 30_000, async () => {
    const { entity } = await client(api.storages.view, { id: storage.id });
    return entity.status === 'rented';
  });
  await client(api.storages.createKey, { id: storage.id, title: names.key, mode: 'read-write' });
  const { entity: project } = await client(api.projects.create, { title: names.project, slug: 'trainer' });
  const { entity: empty } = await client(api.projects.create, { title: names.project, slug: 'trainer-2' });
  await client(api.secondFactor.stepUpBegin, {});
  await client(api.secondFactor.stepUp, { code: await mailedCode(url, email) });
  const pushed = await push(project.gitHttps, (await client(api.apiTokens.create, { description: names.key })).token);
  await client(api.projects.attachInstance, { projectRef: { id: project.id }, instanceRef: { id: own.id } });
  const input = await client(api.storages.uploadLink, { id: storage.id, key: 'data/digits.csv' });
  expect((await fetch(input.link, { method: 'PUT', body: 'digit,pixels\n' })).ok, 'the input is uploaded').toBe(true);
  const runs = {
    projectRef: { id: project.id },
    instanceRef: { id: own.id },
    storageRef: { id: storage.id },
    inputUrlPath: 'data/',
    inputPath: '/input',
    outputPath: '/output',
    command: 'python evaluate.py --data $STAGI_INPUT_PATH',
    commit: 'main',
    image: 'python:3.14-slim',
    cpus: 1,
    gpuCount: 0,
    env: [{ name: 'SEED', value: '1' }],
    title: names.task,
  };
  const { entity: task } = await client(api.tasks.create, runs);
  await client(api.tasks.createSchedule, { ...runs, title: names.task, cron: '0 2 * * *', timeZone: 'Europe/Berlin' });
  const { link } = await client(api.invites.create, { role: 'Guest' });
  return {
    ids: {
      instance: rented.id,
      selfInstance: own.id,
      container: containers[0]?.id ?? 0,
      joinClient: link.slice(link.lastIndexOf('/') + 1),
      containerAuth: 'web',
      storage: storage.id,
      project: project.id,
      emptyProject: empty.id,
      task: task.id,
      ...pushed,
    },
    close: daemon.close,
  };
}

/** One commit of a README. Answers the hashes of both. */
async function push(address: string, token: string): Promise<{ commit: string; readme: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-code-'));
  const git = async (...args: string[]) => {
    const as = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    const env = { PATH: process.env.PATH, HOME: folder, GIT_TERMINAL_PROMPT: '0' };
    return (await promisify(execFile)('git', [...as, ...args], { cwd: folder, env })).stdout.trim();
  };
  const to = new URL(address);
  to.username = 'git';
  to.password = token;
  writeFileSync(join(folder, 'README.md'), '# Merlin\n');
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('commit', '--quiet', '--message=Siskin');
  await git('push', '--quiet', to.href, 'main');
  const hashes = { commit: await git('rev-parse', 'HEAD'), readme: await git('rev-parse', 'HEAD:README.md') };
  rmSync(folder, { recursive: true, force: true });
  return hashes;
}
