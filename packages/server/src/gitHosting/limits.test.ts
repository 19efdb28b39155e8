import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, readdirSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anImport } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import {
  addSshKey,
  aHostedProject,
  aMachine,
  aToken,
  endOf,
  type HostedProject,
  type Machine,
} from './testing/gitClient.ts';

const MiB = 1024 * 1024;
/** The promise is 2 s; this machine also does other things. */
const ENDS_WITHIN_MS = 3_500;

let app: TestApp;
let ada: Person;
let machine: Machine;
let token: string;
let publicKey: string;
beforeAll(async () => {
  app = await startTestApp();
  ada = await app.signUp('Ada');
  machine = aMachine();
  publicKey = await machine.sshKey();
  await addSshKey(ada, publicKey);
  token = await aToken(app, ada);
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

/** Content that does not compress. git stores it as it is. */
async function writeNoise(path: string, bytes: number): Promise<void> {
  const file = createWriteStream(path);
  const block = randomBytes(4 * MiB);
  for (let written = 0, n = 0; written < bytes; written += block.length, n += 1) {
    block.writeUInt32LE(n, 0);
    if (!file.write(Buffer.from(block.subarray(0, Math.min(block.length, bytes - written))))) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

/** No compression: the test is about transfers. */
const LARGE = ['-c', 'core.compression=0', '-c', 'core.bigFileThreshold=1m', '-c', 'pack.window=0'];

it('takes 600 MB in two pushes, one by each way', { timeout: 120_000 }, async () => {
  const project = await aHostedProject(app, ada);
  const folder = await machine.repository('large', project.ssh);
  for (const way of WAYS) {
    await writeNoise(join(folder, `${way}.bin`), 300_000_000);
    await machine.ok([...LARGE, 'add', '-A'], { cwd: folder });
    await machine.ok([...LARGE, 'commit', '-q', '-m', way], { cwd: folder });
    const began = performance.now();
    await machine.ok([...LARGE, 'push', '-q', address(project, way), 'main'], { cwd: folder });
    console.log(`300 MB over ${way}: pushed in ${((performance.now() - began) / 1000).toFixed(1)} s (n = 1)`);
  }
  const { entity } = await ada.client(api.projects.view, { id: project.id });
  expect(entity.sizeBytes).toBeGreaterThan(600_000_000);
  await machine.run('rm', ['-rf', folder, project.dir]);
});

it('refuses a push of more than 512 MiB plainly, over both ways', { timeout: 120_000 }, async () => {
  const project = await aHostedProject(app, ada);
  const folder = await machine.repository('too-large', project.ssh);
  await writeNoise(join(folder, 'large.bin'), 520 * MiB);
  await machine.ok([...LARGE, 'add', '-A'], { cwd: folder });
  await machine.ok([...LARGE, 'commit', '-q', '-m', 'large'], { cwd: folder });
  for (const way of WAYS) {
    const { code, stderr } = await machine.git([...LARGE, 'push', '-q', address(project, way), 'main'], {
      cwd: folder,
    });
    expect([way, code]).toEqual([way, 1]);
    expect(stderr).toMatch(/remote: fatal: pack exceeds maximum allowed size \(512\.00 MiB\)/);
  }
  expect(await machine.ok(['--git-dir', project.dir, 'for-each-ref'])).toBe('');
  expect(bytesIn(project.dir)).toBeLessThan(MiB);
  await machine.run('rm', ['-rf', folder]);
});

const bytesIn = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

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

describe.each(WAYS)('a transfer over %s is cut off', (way) => {
  const ENDS: Record<string, (eve: Person) => Promise<unknown>> = {
    'the removal of its caller': (eve) => ada.client(api.clients.removeMember, { userId: eve.userId }),
    'the disabling of its workspace': () =>
      sql`update workspace set disabled_at = now() where id = ${ada.workspaceId}`.execute(app.ctx.db),
  };
  it.each(Object.entries(ENDS))('after %s', { timeout: 60_000 }, async (what, end) => {
    const eve = await app.signUp(`Eve ${way} ${what}`);
    await sql`insert into membership (workspace_id, user_id, role) values (${ada.workspaceId}, ${eve.userId}, 'Developer')`.execute(
      app.ctx.db,
    );
    const hers = aMachine();
    await addSshKey(eve, await hers.sshKey());
    eve.useWorkspace(ada.workspaceId);
    const project = await aHostedProject(app, ada);
    const url = way === 'ssh' ? project.ssh : project.https(await aToken(app, eve));
    const folder = await hers.repository('large', url);
    await writeNoise(join(folder, 'large.bin'), 40_000_000);
    await hers.ok([...LARGE, 'add', '-A'], { cwd: folder });
    await hers.ok([...LARGE, 'commit', '-q', '-m', 'large'], { cwd: folder });
    await hers.ok([...LARGE, 'push', '-q', 'origin', 'main'], { cwd: folder });

    // A download that its client does not read, and a push that its client does not go on with.
    const download = hers.spawn('git', ['clone', '-q', url, 'again'], { env: { GIT_TRACE_PACKET: '0' } });
    await expect.poll(() => transfersOf(project)).not.toEqual([]);
    download.kill('SIGSTOP');
    for (const pid of await childrenOf(download.pid!)) process.kill(pid, 'SIGSTOP');
    if ((await transfersOf(project)).length === 0) throw new Error('the clone was too fast to be stopped');
    const ended = performance.now();
    await end(eve);
    await expect.poll(() => transfersOf(project), { timeout: 10_000 }).toEqual([]);
    const ms = performance.now() - ended;
    console.log(`${way}, ${what}: cut after ${ms.toFixed(0)} ms`);
    expect(ms).toBeLessThan(ENDS_WITHIN_MS);
    for (const pid of await childrenOf(download.pid!)) process.kill(pid, 'SIGCONT');
    download.kill('SIGCONT');
    expect((await endOf(download)).code).toBe(128);
    await sql`update workspace set disabled_at = null where id = ${ada.workspaceId}`.execute(app.ctx.db);
    hers.remove();
  });
});

/** The processes of git that work in a repository. */
async function transfersOf({ dir }: HostedProject): Promise<number[]> {
  const { stdout } = await machine.run('sh', [
    '-c',
    `for p in /proc/[0-9]*; do [ "$(readlink $p/cwd)" = "${dir}" ] && basename $p; done; true`,
  ]);
  return stdout.split('\n').filter(Boolean).map(Number);
}

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await machine.run('ps', ['-o', 'pid=', '--ppid', String(pid)]);
  const children = stdout.split('\n').map(Number).filter(Boolean);
  return [...children, ...(await Promise.all(children.map(childrenOf))).flat()];
}

it('answers 503 when too many transfers run', async () => {
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
  expect(first.statusCode).toBe(503);
  expect(Number(first.headers['retry-after'])).toBeGreaterThan(0);
  for (const request of requests) request.on('error', () => {}).destroy();
  await expect.poll(() => transfersOf(project)).toEqual([]);
});
