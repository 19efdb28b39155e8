import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aGitUser, aHostedProject, type HostedProject, type Machine } from './testing/gitClient.ts';

let app: TestApp;
let machine: Machine;
let token: string;
let project: HostedProject;
/** Commits of `main`; and what no branch and no tag names any more. */
let first: string;
let last: string;
let gone: Record<'a forced push' | 'its parent' | 'a deleted branch' | 'a deleted tag', string>;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  const { person, ...user } = await aGitUser(app);
  ({ machine, token } = user);
  project = await aHostedProject(app, person);
  await person.client(api.projects.edit, { id: project.id, allowForcedPush: true });
  const folder = await machine.repository('mine', project.https(token));
  const git = (...args: string[]) => machine.ok(args, { cwd: folder });
  first = await machine.commit(folder, 'first.txt', 'first');
  const parent = await machine.commit(folder, 'secret.txt', 'a secret');
  const forced = await machine.commit(folder, 'more.txt', 'more');
  await git('push', '-q', 'origin', 'main');
  await git('checkout', '-q', '-b', 'topic');
  const branch = await machine.commit(folder, 'topic.txt', 'topic');
  await git('tag', '-a', 'v1', '-m', 'one');
  await git('push', '-q', 'origin', 'topic', 'v1');
  const tag = (await git('rev-parse', 'v1')).trim();
  await git('push', '-q', 'origin', ':topic', ':v1');
  await git('checkout', '-q', 'main');
  await git('reset', '-q', '--hard', first);
  last = await machine.commit(folder, 'last.txt', 'last');
  await git('push', '-q', '--force', 'origin', 'main');
  gone = { 'a forced push': forced, 'its parent': parent, 'a deleted branch': branch, 'a deleted tag': tag };
});
afterAll(async () => {
  machine?.remove();
  await app?.close();
});

let folders = 0;
async function fetchBy(way: 'https' | 'ssh', ...options: string[]) {
  folders += 1;
  const cwd = join(machine.home, `fetched-${folders}`);
  await machine.ok(['init', '-q', cwd]);
  const url = way === 'ssh' ? project.ssh : project.https(token);
  return machine.git(['-c', 'protocol.version=2', 'fetch', '-q', ...options.slice(0, -1), url, options.at(-1)!], {
    cwd,
  });
}

describe.each(['https', 'ssh'] as const)('what was pushed away is fetched by nobody over %s:', (way) => {
  it.each(['a forced push', 'its parent', 'a deleted branch', 'a deleted tag'] as const)('%s', async (what) => {
    const { code, stderr } = await fetchBy(way, gone[what]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(`not our ref ${gone[what]}`);
  });

  it.each([['--depth=1'], ['--filter=blob:none'], ['--filter=tree:0'], ['--no-tags']])('with %s', async (option) => {
    const { code, stderr } = await fetchBy(way, option, gone['a forced push']);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('not our ref')]);
  });

  it('and commits of a branch are, by their hashes', async () => {
    for (const sha of [first, last]) expect(await fetchBy(way, sha)).toMatchObject({ code: 0 });
  });
});

const packet = (line: string): string => `${(line.length + 4).toString(16).padStart(4, '0')}${line}`;
const request = (...wants: string[]): string =>
  `${packet('command=fetch')}0001${packet('no-progress')}${wants.map(packet).join('')}${packet('done\n')}0000`;

const open = (sha: string): string => `${packet('command=fetch')}0001${packet(`want ${sha}\n`)}${packet('done\n')}`;

describe('whatever a program writes into its request', () => {
  async function post(body: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
    const { username, password, origin, pathname } = new URL(`${project.https(token)}/git-upload-pack`);
    const answer = await fetch(origin + pathname, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${username}:${password}`)}`,
        'content-type': 'application/x-git-upload-pack-request',
        'git-protocol': 'version=2',
        ...headers,
      },
      body,
    });
    return { status: answer.status, text: await answer.text() };
  }
  const sha = () => gone['a forced push'];
  const REQUESTS: [what: string, body: () => string, headers?: Record<string, string>][] = [
    ['the hash alone', () => request(`want ${sha()}`)],
    ['a line', () => request(`want ${sha()}\n`)],
    ['large letters', () => request(`want ${sha().toUpperCase()}\n`)],
    ['more after the hash', () => request(`want ${sha()} and more\n`)],
    ['behind one that is offered', () => request(`want ${last}\n`, `want ${sha()}\n`)],
    ['in front of one that is offered', () => request(`want ${sha()}\n`, `want ${last}\n`)],
    ['among a thousand', () => request(...Array.from({ length: 1000 }, () => `want ${last}\n`), `want ${sha()}\n`)],
    ['before the arguments', () => `${packet('command=fetch')}${packet(`want ${sha()}\n`)}0001${packet('done\n')}0000`],
    ['ended by a delimiter', () => `${open(sha())}0001`],
    ['ended as a response is', () => `${open(sha())}0002`],
    ['ended by nothing', () => open(sha())],
    ['with several versions', () => request(`want ${sha()}\n`), { 'git-protocol': 'version=1:version=2' }],
  ];
  it.each(REQUESTS)('%s: it gets no secret', async (_, body, headers) => {
    const { status, text } = await post(body(), headers);
    expect(text).not.toContain('PACK');
    expect([status, text]).toEqual([200, expect.stringContaining(`ERR upload-pack: not our ref ${sha()}`)]);
  });

  it('behind another command: the answer is broken off', async () => {
    await expect(post(request(`want ${last}\n`) + request(`want ${sha()}\n`))).rejects.toThrow('terminated');
  });

  it('what is offered is sent', async () => {
    expect(await post(request(`want ${last}\n`))).toMatchObject({ status: 200, text: expect.stringContaining('PACK') });
  });

  it.each(['xxxx', '0003', 'fff1', '-001', 'want'])('refuses %s in place of a length', async (length) => {
    expect(await post(`${packet('command=fetch')}${length}`)).toMatchObject({ status: 400 });
  });
});
