import { once } from 'node:events';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anImport } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { sweepAll } from './maintenance.ts';
import { aBottleneck } from './testing/bottleneck.ts';
import {
  addSshKey,
  aGitUser,
  aHostedProject,
  aMachine,
  aToken,
  endOf,
  type HostedProject,
  type Machine,
} from './testing/gitClient.ts';
import { LARGE, writeNoise } from './testing/noise.ts';

const MiB = 1024 * 1024;
/** The promise. */
const ENDS_WITHIN_MS = 2_000;

let app: TestApp;
let ada: Person;
let machine: Machine;
let token: string;
let publicKey: string;
beforeAll(async () => {
  app = await startTestApp();
  ({ person: ada, machine, publicKey, token } = await aGitUser(app));
});
afterAll(async () => {
  machine?.remove();
  await app?.close();
});

type Way = 'https' | 'ssh';
const WAYS: Way[] = ['https', 'ssh'];
const address = (project: HostedProject, way: Way): string => (way === 'ssh' ? project.ssh : project.https(token));
const update = (project: HostedProject, set: ReturnType<typeof sql>) =>
  sql`update project set ${set} where id = ${project.id}`.execute(app.ctx.db);

it.each(WAYS)('refuses over %s what the plan, an archived project or an import has no room for', async (way) => {
  const zoe = await app.signUp(`Zoe ${way}`);
  await addSshKey(zoe, publicKey);
  const project = await aHostedProject(app, zoe);
  const url = way === 'ssh' ? project.ssh : project.https(await aToken(app, zoe));
  const folder = await machine.repository(`rules-${way}`, url);
  const push = () => machine.git(['push', '-q', 'origin', 'main'], { cwd: folder });
  // Free: 50 GB for everything. A million bytes are left.
  const other = await aHostedProject(app, zoe);
  await update(other, sql`size_bytes = 50 * 1000000000::bigint - 1000000`);
  await writeNoise(join(folder, 'file.bin'), 1_500_000);
  await machine.ok(['add', '-A'], { cwd: folder });
  await machine.ok(['commit', '-q', '-m', 'file'], { cwd: folder });
  const full = await push();
  expect(full.code).toBe(1);
  expect(full.stderr).toMatch(/remote: Your plan has no room for this push: it brings \d+ MiB, and \d+ KiB are left/);
  await update(other, sql`size_bytes = 0`);
  await update(project, sql`status = 'archived', archived_at = now()`);
  expect((await push()).stderr).toContain('This project is archived: it can only be read');
  expect((await machine.git(['ls-remote', url])).code).toBe(0);
  await update(project, sql`status = 'active', archived_at = null`);
  const importId = await anImport(app.ctx, project.id);
  expect((await push()).stderr).toContain('A repository is being imported into this project');
  await sql`update project_import set status = 'failed' where id = ${importId}`.execute(app.ctx.db);
  expect((await push()).code).toBe(0);
});

describe.each(WAYS)('over %s a download and a push in progress are cut off', (way) => {
  const ENDS: Record<string, (eve: Person) => Promise<unknown>> = {
    'the removal of their caller': (eve) => ada.client(api.clients.removeMember, { userId: eve.userId }),
    'the disabling of their workspace': () =>
      sql`update workspace set disabled_at = now() where id = ${ada.workspaceId}`.execute(app.ctx.db),
  };
  let project: HostedProject;
  beforeAll(async () => {
    project = await aHostedProject(app, ada);
    const folder = await machine.repository(`cut-${way}`, address(project, way));
    await writeNoise(join(folder, 'large.bin'), 40_000_000);
    await machine.ok([...LARGE, 'add', '-A'], { cwd: folder });
    await machine.ok([...LARGE, 'commit', '-q', '-m', 'large'], { cwd: folder });
    await machine.ok([...LARGE, 'push', '-q', 'origin', 'main'], { cwd: folder });
  });

  it('never otherwise: a client that stops reading for a moment gets everything', async () => {
    const url = address(project, way);
    const port = Number(new URL(url).port);
    const bottleneck = await aBottleneck(port, MiB);
    const through = url.replace(`:${port}/`, `:${bottleneck.port}/`);
    const clone = machine.ok(['clone', '-q', through, `whole-${way}`]);
    await bottleneck.full;
    bottleneck.release();
    await clone;
    const folder = join(machine.home, `whole-${way}`);
    expect(await machine.ok(['fsck', '--full'], { cwd: folder })).toBe('');
    expect(await machine.ok(['status', '--porcelain'], { cwd: folder })).toBe('');
    expect(statSync(join(folder, 'large.bin')).size).toBe(40_000_000);
    bottleneck.close();
  });

  it.each(Object.entries(ENDS))('after %s', { timeout: 60_000 }, async (what, end) => {
    const eve = await app.signUp(`Eve ${way} ${what}`);
    await sql`insert into membership (workspace_id, user_id, role) values (${ada.workspaceId}, ${eve.userId}, 'Developer')`.execute(
      app.ctx.db,
    );
    const hers = aMachine();
    await addSshKey(eve, await hers.sshKey());
    eve.useWorkspace(ada.workspaceId);
    const direct = way === 'ssh' ? project.ssh : project.https(await aToken(app, eve));
    const folder = await hers.repository('hers', direct);
    await writeNoise(join(folder, 'noise.bin'), 4 * MiB);
    await hers.ok([...LARGE, 'add', '-A'], { cwd: folder });
    await hers.ok([...LARGE, 'commit', '-q', '-m', 'noise'], { cwd: folder });
    const pushed = (await hers.ok(['rev-parse', 'HEAD'], { cwd: folder })).trim();
    const before = await stateOf(project);

    const port = Number(new URL(direct).port);
    const bottlenecks = [await aBottleneck(port, MiB), await aBottleneck(port, MiB)] as const;
    const [from, to] = bottlenecks.map((through) => direct.replace(`:${port}/`, `:${through.port}/`)) as [
      string,
      string,
    ];
    const download = endOf(hers.spawn('git', ['clone', '-q', from, 'again']));
    const push = endOf(hers.spawn('git', [...LARGE, 'push', '-q', to, 'main:topic'], { cwd: folder }));
    await Promise.all(bottlenecks.map(({ full }) => full));
    await expect.poll(() => quarantinesOf(project)).toHaveLength(1);
    expect(transfersOf(project).length).toBeGreaterThanOrEqual(2);

    const ended = performance.now();
    await end(eve);
    await expect.poll(() => transfersOf(project), { timeout: 10_000, interval: 20 }).toEqual([]);
    const ms = performance.now() - ended;
    console.log(`${way}, ${what}: cut after ${ms.toFixed(0)} ms`);
    expect(ms).toBeLessThan(ENDS_WITHIN_MS);
    for (const { release } of bottlenecks) release();
    expect((await download).code).toBe(128);
    expect((await push).code).not.toBe(0);

    await sql`update workspace set disabled_at = null where id = ${ada.workspaceId}`.execute(app.ctx.db);
    expect(await stateOf(project)).toEqual(before);
    expect((await machine.git(['--git-dir', project.dir, 'cat-file', '-e', pushed])).code).not.toBe(0);
    // What the killed git left is swept by the worker.
    await sweepAll(app.ctx, { olderThanMs: 0 });
    expect(quarantinesOf(project)).toEqual([]);
    for (const { close } of bottlenecks) close();
    hers.remove();
  });
});

/** What people see of a project. */
async function stateOf(project: HostedProject) {
  const { entity } = await ada.client(api.projects.view, { id: project.id });
  const { entities } = await ada.client(api.projects.activity, { projectRef: { id: project.id } });
  return {
    size: entity.sizeBytes,
    lastCommit: entity.lastCommit,
    activity: entities,
    refs: await machine.ok(['ls-remote', project.dir]),
    objects: await machine.ok(['--git-dir', project.dir, 'cat-file', '--batch-all-objects', '--batch-check']),
  };
}

const quarantinesOf = ({ dir }: HostedProject): string[] =>
  readdirSync(join(dir, 'objects')).filter((name) => name.startsWith('tmp_objdir-'));

/** The processes of git that work in a repository. */
function transfersOf({ dir }: HostedProject): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === dir;
    } catch {
      // It has ended meanwhile, or is of the system.
      return false;
    }
  });
}

it('answers 429 when too many transfers of one person run', async () => {
  const project = await aHostedProject(app, ada);
  const { port } = new URL(app.url);
  const path = `/git/${ada.workspaceId}/${project.slug}.git/git-upload-pack`;
  const headers = {
    authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
    'content-type': 'application/x-git-upload-pack-request',
    'transfer-encoding': 'chunked',
  };
  const requests = Array.from({ length: 17 }, () => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false });
    request.flushHeaders();
    return request;
  });
  const [first] = (await Promise.race(requests.map((request) => once(request, 'response')))) as [
    { statusCode: number; headers: Record<string, string> },
  ];
  expect(first.statusCode).toBe(429);
  expect(Number(first.headers['retry-after'])).toBeGreaterThan(0);
  for (const request of requests) request.on('error', () => {}).destroy();
  await expect.poll(() => transfersOf(project)).toEqual([]);
});
