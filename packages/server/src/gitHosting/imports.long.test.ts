import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FetchRepository, ImportError } from '../projects/importWorker.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { createImporter } from './importRepository.ts';
import { openPinnedProxy } from './pinnedProxy.ts';
import { isPublicAddress } from './publicAddress.ts';
import { HARMLESS, writeFlawed } from './testing/flawedHistories.ts';
import { aHostedProject, aMachine, type Machine } from './testing/gitClient.ts';
import { aGitServer, type GitServer } from './testing/gitServer.ts';

let app: TestApp;
let ada: Person;
let machine: Machine;
let server: GitServer;
beforeAll(async () => {
  machine = aMachine();
  server = await aGitServer(machine, machine.home);
  app = await startTestApp({ GIT_IMPORT_HOSTS: `localhost:${server.port}`, GIT_IMPORT_CA_FILE: server.caFile });
  ada = await app.signUp('Ada');
});
afterAll(async () => {
  await app?.close();
  await server?.close();
  machine?.remove();
});

const from = (path: string): string => `https://localhost:${server.port}/${path}`;

/** A bare repository with `trunk` as HEAD, a tag, and an old history with a flaw that many have. */
async function source(name: string): Promise<{ path: string; sha: string }> {
  const folder = await machine.repository(name, 'https://nowhere.example/');
  await machine.ok(['checkout', '-q', '-b', 'trunk'], { cwd: folder });
  const tree = (await machine.ok(['rev-parse', 'HEAD^{tree}'], { cwd: folder })).trim();
  const flawed = `tree ${tree}\nauthor Old <old@example.com>1234567890 +0000\ncommitter Old <old@example.com> 1234567890 +051800\n\nold\n`;
  const old = await machine.ok(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], {
    cwd: folder,
    input: flawed,
  });
  await machine.ok(['update-ref', 'refs/heads/old', old.trim()], { cwd: folder });
  const sha = await machine.commit(folder, 'a.txt', 'imported');
  await machine.ok(['tag', 'v1'], { cwd: folder });
  await machine.ok(['clone', '-q', '--bare', folder, join(machine.home, `${name}.git`)]);
  return { path: `${name}.git`, sha };
}

const createAndImport = async (url: string): Promise<number> => {
  imports += 1;
  const slug = `import-${imports}`;
  return (await ada.client(api.projects.create, { title: slug, slug, importUrl: url })).entity.id;
};
let imports = 0;
const view = async (id: number) => (await ada.client(api.projects.view, { id })).entity;

describe('an import', () => {
  it('brings branches, tags and the default branch, and shows how far it is', { timeout: 30_000 }, async () => {
    const { path, sha } = await source('good');
    const id = await createAndImport(from(path));
    await expect.poll(async () => (await view(id)).import?.status, { timeout: 20_000 }).toBe('done');
    const entity = await view(id);
    expect(entity).toMatchObject({ isEmpty: false, defaultBranch: 'trunk', lastCommit: { sha } });
    expect(entity.sizeBytes).toBeGreaterThan(0);
    const { repository } = await app.ctx.db
      .selectFrom('project')
      .select('repository')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const dir = join(app.ctx.config.repositoriesDir, `${repository}.git`);
    expect((await machine.ok(['--git-dir', dir, 'for-each-ref', '--format=%(refname)'])).trim().split('\n')).toEqual([
      'refs/heads/main',
      'refs/heads/old',
      'refs/heads/trunk',
      'refs/tags/v1',
    ]);
    expect(existsSync(join(dir, 'objects/info/commit-graphs/commit-graph-chain'))).toBe(true);
  });

  it('brings old histories with the flaws that a push may have', { timeout: 30_000 }, async () => {
    const folder = await machine.repository('flawed', 'https://nowhere.example/');
    for (const [n, history] of HARMLESS.entries()) {
      const sha = await writeFlawed(machine, folder, history);
      await machine.ok(['update-ref', `refs/heads/flaw-${n}`, sha], { cwd: folder });
    }
    await machine.ok(['clone', '-q', '--bare', folder, join(machine.home, 'flawed.git')]);
    const id = await createAndImport(from('flawed.git'));
    await expect.poll(async () => (await view(id)).import?.status, { timeout: 20_000 }).toBe('done');
    const { refs } = await ada.client(api.projectCode.refs, { id, kind: 'branch', limit: 100 });
    expect(refs).toHaveLength(HARMLESS.length + 1);
    console.log(`flawed histories imported: n = ${HARMLESS.length}`);
  });

  type Case = [string, string, RegExp, GitServer['intercept']?];
  const status =
    (code: number, headers: Record<string, string> = {}): GitServer['intercept'] =>
    (_request, response) => {
      response.writeHead(code, headers).end();
      return true;
    };
  const REFUSED: Case[] = [
    ['what is not there', 'nothing.git', /no git repository at this address/],
    [
      'what asks for a password',
      'good.git',
      /private or does not exist/,
      status(401, { 'www-authenticate': 'Basic realm="x"' }),
    ],
    ['what is forbidden', 'good.git', /private or does not exist/, status(403)],
    [
      'a web page',
      'good.git',
      /no git repository with branches at this address/,
      (_request, response) => {
        response.end('<html></html>');
        return true;
      },
    ],
    [
      'a redirect to this machine',
      'good.git',
      /leads to another one/,
      status(302, { location: 'http://127.0.0.1:1/x.git/info/refs' }),
    ],
    ['a redirect to a file', 'good.git', /leads to another one/, status(301, { location: 'file:///etc/passwd' })],
    [
      'the protocol of plain file servers',
      'good.git',
      /no git repository at this address/,
      (request, response) => {
        if (request.url?.includes('/info/refs')) response.end(`${'1'.repeat(40)}\trefs/heads/main\n`);
        else response.writeHead(404).end();
        return true;
      },
    ],
  ];
  it.each(REFUSED)(
    'of %s fails with a reason and leaves the project empty',
    { timeout: 30_000 },
    async (_what, path, reason, intercept) => {
      server.intercept = intercept ?? null;
      const id = await createAndImport(from(path));
      await expect.poll(async () => (await view(id)).import?.status, { timeout: 20_000 }).toBe('failed');
      server.intercept = null;
      const entity = await view(id);
      expect(entity.import?.error).toMatch(reason);
      expect(entity.isEmpty).toBe(true);
      // It can be tried again.
      await ada.client(api.projects.import, { id, url: from('good.git') });
      await expect.poll(async () => (await view(id)).import?.status, { timeout: 20_000 }).toBe('done');
    },
  );

  it('of hostile objects is refused', async () => {
    const folder = await machine.repository('hostile', 'https://nowhere.example/');
    const blob = (await machine.ok(['rev-parse', 'HEAD:README.md'], { cwd: folder })).trim();
    const tree = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]);
    const { sha } = await writeObject(folder, 'tree', tree);
    const commit = (await machine.ok(['commit-tree', '-m', 'x', sha], { cwd: folder })).trim();
    await machine.ok(['update-ref', 'refs/heads/main', commit], { cwd: folder });
    const project = await aHostedProject(app, ada);
    await expect(fetchInto(project.dir, from('hostile/.git'))).rejects.toThrow(/damaged or not allowed/);
    expect(await machine.ok(['--git-dir', project.dir, 'for-each-ref'])).toBe('');
    expect(await machine.ok(['--git-dir', project.dir, 'count-objects', '-v'])).toMatch(/^in-pack: 0$/m);
  });

  it('larger than the plan has room for is cut off', async () => {
    const folder = await machine.repository('large', 'https://nowhere.example/');
    await machine.commit(folder, 'large.bin', randomBytes(3_000_000));
    const project = await aHostedProject(app, ada);
    await expect(fetchInto(project.dir, from('large/.git'), { roomBytes: 1_000_000 })).rejects.toThrow(
      /larger than your plan/,
    );
    expect(await machine.ok(['--git-dir', project.dir, 'count-objects', '-v'])).toMatch(/^garbage: 0$/m);
  });

  it('ends when it is canceled', async () => {
    let asked = 0;
    server.intercept = () => {
      asked += 1;
      return true;
    };
    const id = await createAndImport(from('good.git'));
    await expect.poll(() => asked).toBeGreaterThan(0);
    await ada.client(api.projects.cancelImport, { id });
    await expect.poll(async () => (await view(id)).import).toMatchObject({ status: 'failed', error: 'Canceled' });
    server.intercept = null;
  });
});

async function writeObject(folder: string, type: string, content: Buffer): Promise<{ sha: string }> {
  const file = join(machine.home, 'object');
  writeFileSync(file, content);
  return { sha: (await machine.ok(['hash-object', '-t', type, '-w', '--literally', file], { cwd: folder })).trim() };
}

const importer = (): FetchRepository => createImporter(app.ctx);
const fetchInto = (dir: string, url: string, more: { roomBytes?: number } = {}): Promise<void> =>
  importer()(
    { projectId: 0, workspaceId: 0, url, dir, roomBytes: more.roomBytes ?? null },
    () => {},
    AbortSignal.timeout(20_000),
  );

describe('addresses that reach into a network', () => {
  let listener: Server;
  let port: number;
  let connections = 0;
  beforeAll(async () => {
    listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    // All addresses of this machine.
    await new Promise<void>((resolve) => listener.listen(0, '::', resolve));
    port = (listener.address() as { port: number }).port;
  });
  afterAll(() => listener?.close());

  it('are never connected to', { timeout: 60_000 }, async () => {
    const hosts = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      'LOCALHOST',
      'localhost.',
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '0',
      '0.0.0.0',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::ffff:169.254.169.254]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '[fe80::1]',
      '[fd00::1]',
      '169.254.169.254',
      '10.0.0.1',
      '172.16.0.1',
      '192.168.1.1',
      '100.64.0.1',
      '100.100.100.200',
      '198.18.0.1',
      '192.0.2.1',
      '224.0.0.1',
      '255.255.255.255',
      '①②⑦.⓪.⓪.①',
      '127。0。0。1',
    ];
    const urls = [
      ...hosts.map((host) => `https://${host}:${port}/x.git`),
      ...[
        `http://127.0.0.1:${port}/x.git`,
        'file:///etc',
        '/etc',
        'ext::sh -c id',
        `ext::nc 127.0.0.1 ${port}`,
        `git://127.0.0.1:${port}/x`,
        `ssh://git@127.0.0.1:${port}/x`,
        `git@127.0.0.1:x`,
        `ftp://127.0.0.1:${port}/x`,
        `fd::0`,
        `https://user:pw@127.0.0.1:${port}/x`,
        `https://127.0.0.1:${port}/x.git?a`,
        `--upload-pack=nc 127.0.0.1 ${port}`,
        `https://example.com@127.0.0.1:${port}/x`,
        `https::https://127.0.0.1:${port}/x`,
        `transport::https://127.0.0.1:${port}`,
        'bundle.file',
        'https://',
        `https://\\127.0.0.1:${port}/x`,
      ],
    ];
    const { dir } = await aHostedProject(app, ada);
    for (const url of urls) await expect(fetchInto(dir, url), url).rejects.toThrow(ImportError);
    // The same through the call: refused by its form, or by the worker.
    for (const url of urls.slice(0, 3)) {
      const id = await createAndImport(url);
      await expect.poll(async () => (await view(id)).import?.error).toMatch(/not on the internet/);
    }
    expect(connections).toBe(0);
    console.log(`import corpus: n = ${urls.length} addresses, ${connections} connections`);
  });

  it('stay out of reach when a name resolves to something else later', async () => {
    const proxy = await openPinnedProxy(
      { hostname: 'git.example', port, addresses: ['192.0.2.1'] },
      { maxBytes: 1, onBytes: () => {} },
    );
    const before = connections;
    for (const args of [
      ['ls-remote', `https://localhost:${port}/x.git`],
      ['ls-remote', `http://localhost:${port}/x.git`],
    ]) {
      const { code } = await machine.git(['-c', `http.proxy=${proxy.url}`, ...args]);
      expect(code).toBe(128);
    }
    await proxy.close();
    expect(connections).toBe(before);
  });

  it.each(['1.1.1.1', '140.82.121.4', '2606:4700::1111', '2a00:1450::1'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});
