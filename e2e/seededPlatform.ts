import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { IMAGES_FEATURE } from '@stagi/contract/daemon.ts';
import { ROUTES, type Route, type RouteName } from '@stagi/contract/routes.ts';
import { spawnFakeCloud } from '@stagi/server/src/providers/fake/control.ts';
import { enrolNode } from '@stagi/server/src/testing/daemon.ts';
import { httpSender, mailedCode, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { connectLiveDaemon } from './liveDaemon.ts';
import { type Platform, startPlatform } from './platform.ts';
import { STORY_APP_ASKS } from './registeredApp.ts';
import { until } from './waitUntil.ts';

interface Lab {
  platform: Platform;
  person: Person;
  ids: Ids;
}

/** Those that only lead on, and the gallery and the demo, which have stories of their own. */
const NOT_SCREENS: readonly RouteName[] = ['cloud', 'profile', 'kit', 'demo', 'signUpForm', 'project'];

/** Tabs, dialogs and forms with an address of their own. */
const MORE: Partial<Record<RouteName, readonly string[]>> = {
  instance: ['/containers', '/images', '/terminal', '/metrics', '/activities', '/access'],
  selfInstance: ['/containers', '/images', '/terminal', '/metrics', '/activities'],
  selfInstances: ['?new=1'],
  container: ['/logs', '/terminal', '/files', '/metrics', '/edit'],
  tokens: ['/archive'],
  consent: [`?${STORY_APP_ASKS}`],
  containers: ['?new=1'],
  storages: ['?new=1'],
  storage: ['/objects', '/keys'],
  task: ['/output'],
  newTask: ['?schedule=new'],
  projects: ['?new=1'],
  model: ['?deploy=1'],
  contact: ['?topic=demo'],
};

/** What the somebody and their things are called. */
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

const USUAL: Names = {
  person: 'Ada',
  rented: 'Training',
  own: 'Lab 3',
  container: 'Web',
  key: 'laptop',
  storage: 'Data',
  project: 'Trainer',
  task: 'Evaluation',
};

/** A platform with a simulated cloud, and somebody who has one of everything: for stories that walk over all screens. */
export const seededTest = test.extend<object, { names: Names; lab: Lab }>({
  names: [USUAL, { option: true, scope: 'worker' }],
  lab: [
    async ({ names }, use, worker) => {
      const folder = mkdtempSync(join(tmpdir(), 'stagi-furnished-'));
      const daemons = join(folder, 'daemon');
      mkdirSync(daemons);
      writeFileSync(join(daemons, 'stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
      const cloud = await spawnFakeCloud({ statePath: join(folder, 'cloud.json') });
      const platform = await startPlatform(`furnished${worker.workerIndex}`, {
        LOCAL_CLOUD: 'off',
        FAKE_CLOUD_URL: cloud.url,
        STAGI_DAEMON_DIR: daemons,
      });
      const person = await signUp(platform.url, httpSender(platform.url), {
        name: names.person,
        email: 'ada@example.com',
      });
      const { ids, close } = await furnish(platform.url, person, names);
      await use({ platform, person, ids });
      await close();
      await platform.stop();
      await cloud.kill();
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: 'worker', timeout: 180_000 },
  ],
});

/** The address of every screen that visitors see. */
export function publicScreens(ids: Ids): string[] {
  const open = screens().filter((name) => isPublic(name));
  const more = open
    .filter((name) => name !== 'model')
    .flatMap((name) => MORE[name]?.map((tail) => [name, tail] as const) ?? []);
  return [
    ...open.map((name) => addressOf(name, ids)),
    ...more.map(([name, tail]) => addressOf(name, ids) + tail),
    '/no-such-page',
  ];
}

/** The address of every screen, tab and form with an address that a signed-in person sees. */
export function ownScreens(ids: Ids): string[] {
  return screens()
    .filter((name) => !isPublic(name))
    .flatMap((name) => {
      const path = addressOf(name, ids);
      return ['', ...(MORE[name] ?? [])].map((more) => path + more);
    })
    .concat(`/projects/${ids.emptyProject}/code/tree`);
}

function addressOf(name: RouteName, ids: Ids): string {
  const { path: pattern } = ROUTES[name];
  const path = pattern.startsWith(`${ROUTES.project.path}/`)
    ? pattern
        .replace(':id', String(ids.project))
        .replace(':taskId/:name', `${ids.task}/run-1`)
        .concat(ofCode(ids)[name] ?? '')
    : pattern.replace(':name', 'llama-3.1-8b-instruct').replace(/:(?:id|code|slug)$/, String(ids[name as keyof Ids]));
  expect(path, `${name}: an id for its address`).not.toContain('undefined');
  return path;
}

/** What the addresses of the code name besides their project. */
const ofCode = ({ commit, readme }: Ids): Partial<Record<string, string>> => ({
  projectBlob: `/main/README.md/${readme}`,
  projectCommit: `/main/${commit}`,
});

const screens = () =>
  (Object.keys(ROUTES) as RouteName[]).filter((name) => !NOT_SCREENS.includes(name) && !isForOperators(name));

/** Those have stories of their own: a customer's screens never show them. */
function isForOperators(name: RouteName): boolean {
  const route: Route = ROUTES[name];
  return route.permissions?.includes('EMPLOYEE') === true;
}

function isPublic(name: RouteName): boolean {
  const route: { path: string; public?: boolean } = ROUTES[name];
  return route.public === true;
}

export interface Ids {
  instance: number;
  selfInstance: number;
  container: number;
  storage: number;
  project: number;
  emptyProject: number;
  task: number;
  /** The commit of the project, and the object of its README. */
  commit: string;
  readme: string;
  /** Of a join link that nobody has used. */
  joinClient: string;
  containerAuth: string;
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
  writeFileSync(join(folder, 'README.md'), '# Trainer\n');
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('commit', '--quiet', '--message=Training');
  await git('push', '--quiet', to.href, 'main');
  const hashes = { commit: await git('rev-parse', 'HEAD'), readme: await git('rev-parse', 'HEAD:README.md') };
  rmSync(folder, { recursive: true, force: true });
  return hashes;
}
