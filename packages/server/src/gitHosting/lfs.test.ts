import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { NO_LFS } from './lfs.ts';
import { addSshKey, aGitUser, aHostedProject, type HostedProject, type Machine } from './testing/gitClient.ts';

let app: TestApp;
let ada: Person;
let machine: Machine;
let token: string;
let project: HostedProject;
let publicKey: string;
beforeAll(async () => {
  app = await startTestApp();
  ({ person: ada, machine, token, publicKey } = await aGitUser(app));
  project = await aHostedProject(app, ada);
});
afterAll(async () => {
  machine?.remove();
  await app?.close();
});

const hasLfs = spawnSync('git', ['lfs', 'version']).status === 0;
const WAYS = ['https', 'ssh'] as const;

it.skipIf(!hasLfs).each(WAYS)(
  'pushes plain files over %s where git-lfs is installed, and says of an LFS file that it cannot',
  async (way) => {
    const own = await aHostedProject(app, ada);
    const folder = await machine.repository(`lfs-${way}`, way === 'ssh' ? own.ssh : own.https(token));
    await machine.ok(['lfs', 'install', '--local'], { cwd: folder });
    const plain = await machine.git(['push', 'origin', 'main'], { cwd: folder });
    expect(plain.code).toBe(0);
    await machine.ok(['lfs', 'track', '*.bin'], { cwd: folder });
    await machine.commit(folder, 'large.bin', Buffer.alloc(10_000, 7));
    const large = await machine.git(['push', 'origin', 'main'], { cwd: folder });
    expect(large.code).not.toBe(0);
    expect(large.stderr).toContain(NO_LFS);
  },
);

const ENDPOINTS = [
  ['POST', 'objects/batch'],
  ['POST', 'locks/verify'],
  ['POST', 'locks'],
  ['GET', 'locks?limit=1'],
  ['POST', 'locks/7/unlock'],
  ['POST', 'verify'],
  ['GET', ''],
] as const;

it('answers every address of git-lfs with 501 and JSON, to those who may read the project', async () => {
  const ask = (method: string, path: string, password: string, slug = project.slug) =>
    fetch(`${app.url}/git/${ada.workspaceId}/${slug}.git/info/lfs/${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(`git:${password}`).toString('base64')}`,
        accept: 'application/vnd.git-lfs+json',
        'content-type': 'application/vnd.git-lfs+json',
      },
      ...(method === 'POST' && { body: JSON.stringify({ operation: 'upload', objects: [] }) }),
    });
  for (const [method, path] of ENDPOINTS) {
    const answer = await ask(method, path, token);
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
      path,
      501,
      'application/vnd.git-lfs+json',
    ]);
    expect(await answer.json()).toEqual({ message: NO_LFS });
    expect([path, (await ask(method, path, 'wrong')).status]).toEqual([path, 401]);
    expect([path, (await ask(method, path, token, 'absent')).status]).toEqual([path, 404]);
  }
  console.log(`addresses of git-lfs: n = ${ENDPOINTS.length}`);
});

it('greets who logs in by SSH and asks for no git', async () => {
  const ssh = (...args: string[]) =>
    machine.run('ssh', [
      ...['-F', '/dev/null', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=no', '-o', 'IdentitiesOnly=yes'],
      ...['-o', 'LogLevel=ERROR', '-o', `UserKnownHostsFile=${machine.home}/known_hosts`, '-i', `${machine.home}/id`],
      ...['-p', String(app.ctx.config.gitSshPort), ...args],
    ]);
  const { code, stdout, stderr } = await ssh('-T', 'git@127.0.0.1');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Hi Ada! You are logged in to Stagi with the key “key [0-9a-f]{8}” \(SHA256:\S{43}\)\.\n/);
  expect(stderr).toContain('There is no shell here');
  // Another person with the same key: both are named, and no title is.
  const bob = await app.signUp('Bob');
  await addSshKey(bob, publicKey);
  const both = await ssh('-T', 'git@127.0.0.1');
  expect(both.stderr).toMatch(/^Hi Ada, Bob! .* with the key SHA256:\S{43}\.\n/);
  const command = await ssh('git@127.0.0.1', 'ls');
  expect([command.code, command.stderr.trim()]).toEqual([255, 'exec request failed on channel 0']);
});
