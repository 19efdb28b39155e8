import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { putObjects, visitContent } from './contentHost/testing/visitContent.ts';
import { startTestApp } from './testing/app.ts';
import { createTestDatabase } from './testing/database.ts';
import { aStorage } from './testing/factories.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describe('a failed start ends with one clear line', () => {
  it.each(['PORT', 'METRICS_PORT', 'S3_PORT', 'GIT_SSH_PORT'])('when %s is taken', async (variable) => {
    const other = createServer().listen(0, '127.0.0.1');
    cleanUps.push(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const database = await createTestDatabase();
    cleanUps.push(() => database.drop());
    expect(await failedStart({ [variable]: String(port), DATABASE_URL: database.url })).toEqual([
      `Stagi cannot start. ${variable} ${port} is taken on 127.0.0.1 by another program: stop it or set ${variable} to another port`,
    ]);
  });

  it('when LISTEN_HOST is an address of another machine', async () => {
    const database = await createTestDatabase();
    cleanUps.push(() => database.drop());
    expect(await failedStart({ LISTEN_HOST: '192.0.2.1', DATABASE_URL: database.url })).toEqual([
      'Stagi cannot start. LISTEN_HOST 192.0.2.1 is no address of this machine',
    ]);
  });

  it('when the database cannot be reached', async () => {
    const lines = await failedStart({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Stagi cannot start\. The database cannot be used: .*ECONNREFUSED/);
  });

  it.each([
    [{ PORT: 'http' }, 'PORT must be a port number, not "http"'],
    [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL must begin with postgres://'],
    [{ APP_ORIGIN: 'stagi.example' }, 'APP_ORIGIN must be an address like https://stagi.example, not "stagi.example"'],
    [{ STAGI_SECRET_KEY: 'short' }, 'STAGI_SECRET_KEY must be 32 bytes in base64'],
    [{ LOCAL_CLOUD: 'maybe' }, 'LOCAL_CLOUD must be one of auto, on, off, not "maybe"'],
    [{ TRUST_PROXY: 'nonsense' }, 'TRUST_PROXY must be addresses or networks, comma-separated, not "nonsense"'],
    [{ LOG_FORMAT: 'yaml' }, 'LOG_FORMAT must be one of auto, json, not "yaml"'],
    [
      { STAGI_DATA: '/dev/null/stagi' },
      "STAGI_DATA cannot be used as data directory (ENOTDIR: not a directory, mkdir '/dev/null/stagi'): let this user write there or name another directory",
    ],
  ])('when the configuration is %j', async (env, problem) => {
    const unused = 'postgres://nobody@127.0.0.1:1/none';
    expect(await failedStart({ DATABASE_URL: unused, ...env })).toEqual([`Stagi cannot start. ${problem}`]);
  });

  it.skipIf(!canMount())('when the data directory cannot be written', async () => {
    const lines = await failedStart({ STAGI_DATA: mountTmpfs('ro') });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^Stagi cannot start\. STAGI_DATA cannot be used as data directory \(EROFS: .*write there/,
    );
  });

  it.skipIf(!canMount())('when the disk is full', async () => {
    const lines = await failedStart({ STAGI_DATA: mountTmpfs('size=8m,mode=0777'), DATABASE_URL: '' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Stagi cannot start\. .*(disk is full|no space)/i);
  });
});

function mountTmpfs(options: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'stagi-mounted-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir]);
  cleanUps.push(() => {
    execFileSync('umount', [dir]);
    rmSync(dir, { recursive: true });
  });
  return dir;
}

it('listens at LISTEN_HOST alone', async () => {
  const app = await startTestApp({ LISTEN_HOST: '127.0.0.2' });
  cleanUps.push(() => app.close());
  const { port, s3Port, gitSshPort } = app.ctx.config;
  for (const listening of [port, s3Port, gitSshPort]) {
    expect([listening, await isReached('127.0.0.2', listening)]).toEqual([listening, true]);
    expect([listening, await isReached('127.0.0.1', listening)]).toEqual([listening, false]);
  }
});

it.each(['api,worker,s3', 'api'])(
  'a process with the roles %s shows shared objects, whatever the public name of S3',
  async (role) => {
    const S3_PORT = String(await freePort());
    const origins = { S3_ORIGIN: 'https://s3.invalid', DAEMON_ORIGIN: 'https://stagi.invalid' };
    const settings = { S3_PORT, ...origins, ALLOWED_HOSTS: '' };
    const app = await startTestApp(settings, { role });
    cleanUps.push(() => app.close());
    if (role === 'api') {
      const { port } = app.ctx.config;
      const same = { PORT: String(port), DATABASE_URL: app.databaseUrl, STAGI_DATA: app.dataDir };
      const s3 = await startTestApp({ ...settings, ...same }, { role: 's3' });
      cleanUps.push(() => s3.close());
    }
    const owner = await app.signUp();
    const id = await aStorage(app.ctx, owner);
    await putObjects(app, owner, id, [{ key: 'words.txt', type: 'text/plain', body: 'shared' }]);
    const { entity } = await owner.client(api.sharing.createShareLink, { id, key: 'words.txt' });
    expect(await visitContent(app, entity.link)).toMatchObject({ status: 200, body: Buffer.from('shared') });
  },
);

it('serves everything else when Docker is missing, and shows how to install it', async () => {
  const app = await startTestApp({ LOCAL_CLOUD: 'on', DOCKER_HOST: 'unix:///nonexistent/docker.sock' });
  cleanUps.push(() => app.close());
  const person = await app.signUp();
  const offers = await person.client(api.hardware.offers, {});
  expect(offers.entities).toEqual([]);
  expect(offers.providers).toMatchObject([{ provider: 'local', state: 'unavailable' }]);
  expect(offers.providers[0]?.detail).toMatch(/docker/i);
  expect(offers.providers[0]?.detail).toMatch(/install/i);
});

async function isReached(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ECONNREFUSED');
    return false;
  } finally {
    socket.destroy();
  }
}

function canMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  const dir = mkdtempSync(join(tmpdir(), 'stagi-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', dir], { stdio: 'ignore' });
    execFileSync('umount', [dir]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The lines on stderr of a start that must end with exit code 1 by itself. */
async function failedStart(env: Record<string, string>): Promise<string[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stagi-start-'));
  cleanUps.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    env: {
      ...process.env,
      PORT: '0',
      METRICS_PORT: 'off',
      S3_PORT: '0',
      GIT_SSH_PORT: '0',
      LOCAL_CLOUD: 'off',
      STAGI_DATA: dataDir,
      LOG_LEVEL: 'fatal',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  cleanUps.push(() => child.kill('SIGKILL'));
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(1);
  return stderr.trim().split('\n');
}
