import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import Fastify from 'fastify';
import { sql } from 'kysely';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFairSlots } from '../slots/fairSlots.ts';
import type { SharedSlots } from '../slots/sharedSlots.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { createHosting } from './hosting.ts';
import type { HostingLimits } from './hostingLimits.ts';
import { newPrivateKey } from './hostKey.ts';
import { mountGitHttp } from './http.ts';
import { serveGitSsh } from './ssh.ts';
import { addSshKey, aHostedProject, aMachine, aToken, type HostedProject, type Machine } from './testing/gitClient.ts';

let app: TestApp;
let ada: Person;
let machine: Machine;
let project: HostedProject;
let privateKey: string;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  ada = await app.signUp('Ada');
  machine = aMachine();
  await addSshKey(ada, await machine.sshKey());
  privateKey = (await machine.run('cat', [join(machine.home, 'id')])).stdout;
  project = await aHostedProject(app, ada);
  const folder = await machine.repository('work', project.ssh);
  await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
});
afterAll(async () => {
  machine?.remove();
  await app?.close();
});

/** Both doors of the platform once more, with limits of their own. */
async function openDoors(limits: Partial<HostingLimits>, slots: Partial<SharedSlots> = {}) {
  const hosting = createHosting({ ...app.ctx, slots: { ...app.ctx.slots, ...slots } }, limits);
  const ssh = await serveGitSsh(hosting);
  const sshPort = await freePort();
  await ssh.listen('127.0.0.1', sshPort);
  const http = Fastify();
  mountGitHttp(http, hosting);
  await http.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await ssh.close();
    await http.close();
  });
  return { hosting, sshPort, httpPort: (http.server.address() as AddressInfo).port };
}

const path = (): string => `${ada.workspaceId}/${project.slug}.git`;

async function login(port: number, options: ssh2.ConnectConfig = { privateKey }): Promise<ssh2.Client> {
  const client = new ssh2.Client();
  // The server may break the connection off: each test looks at how it ends.
  client.on('error', () => {});
  client.connect({ host: '127.0.0.1', port, username: 'git', ...options });
  await once(client, 'ready');
  return client;
}

describe('a transfer that moves no byte is cut', () => {
  const SERVICES = ['git-upload-pack', 'git-receive-pack'] as const;

  it.each(SERVICES)('over HTTP: %s', async (service) => {
    const { hosting, httpPort } = await openDoors({ idleMs: 1_000 });
    const request = httpRequest({
      ...{ host: '127.0.0.1', port: httpPort, method: 'POST', path: `/git/${path()}/${service}`, agent: false },
      headers: {
        authorization: `Basic ${Buffer.from(`x:${await aToken(app, ada)}`).toString('base64')}`,
        'content-type': `application/x-${service}-request`,
        'transfer-encoding': 'chunked',
      },
    });
    request.write('00');
    await expect.poll(() => hosting.transfers.open).toBe(1);
    const [error] = (await once(request, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    await expect.poll(() => hosting.transfers.open).toBe(0);
  });

  it.each(SERVICES)('over SSH: %s', async (service) => {
    const { hosting, sshPort } = await openDoors({ idleMs: 1_000 });
    const client = await login(sshPort);
    const broken = once(client, 'error') as Promise<[NodeJS.ErrnoException]>;
    client.exec(`${service} '/${path()}'`, (_error, channel) => channel.resume());
    await expect.poll(() => hosting.transfers.open).toBe(1);
    expect((await broken)[0].code).toBe('ECONNRESET');
    await expect.poll(() => hosting.transfers.open).toBe(0);
  });
});

describe('SSH', () => {
  /** What the server says first; null when it ends the connection without a word. */
  async function greeting(port: number): Promise<{ socket: Socket; said: string | null }> {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const said = await Promise.race([
      once(socket, 'data').then(([chunk]: Buffer[]) => String(chunk)),
      once(socket, 'close').then(() => null),
    ]);
    return { socket, said };
  }
  /** Statements that wait for a lock. */
  async function waitingForLocks(): Promise<number> {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`.execute(app.ctx.db);
    return rows[0]!.count;
  }
  const GREETING = /^SSH-2\.0-stagi\r\n/;

  it('puts a connection in the place of the oldest of its address that has not logged in', async () => {
    const sshConnections = createFairSlots({ total: 32, perPerson: 8, perStranger: 3 });
    const { sshPort } = await openDoors({}, { sshConnections });
    const client = await login(sshPort);
    // One after another, so that the first is the oldest: the kernel need not accept in the order of the calls.
    const silent = [await greeting(sshPort), await greeting(sshPort), await greeting(sshPort)];
    for (const { said } of silent) expect(said).toMatch(GREETING);
    for (const { socket } of silent) {
      const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
      expect((await greeting(sshPort)).said).toMatch(GREETING);
      await closed;
    }
    client.exec(`git-upload-pack '/${path()}'`, (_error, channel) => channel.resume().end('0000'));
    (await login(sshPort)).end();
    expect(sshConnections.held).toBeLessThanOrEqual(5);
  });

  it('takes so many connections of a person and no more, and another for each that ends', async () => {
    const sshConnections = createFairSlots({ total: 32, perPerson: 3, perStranger: 8 });
    const { sshPort } = await openDoors({}, { sshConnections });
    const clients = await Promise.all([1, 2, 3].map(() => login(sshPort)));
    const fourth = new ssh2.Client().on('error', () => {});
    const channel = new Promise((resolve) => {
      fourth.once('ready', () => fourth.exec('git-upload-pack', (error) => resolve(error)));
      fourth.once('close', () => resolve('closed'));
    });
    fourth.connect({ host: '127.0.0.1', port: sshPort, username: 'git', privateKey });
    expect(await channel).not.toBeUndefined();
    clients[0]!.end();
    await expect.poll(() => sshConnections.held).toBe(2);
    (await login(sshPort)).end();
  });

  it('gives back the place of one that leaves while its key is looked up', async () => {
    const sshConnections = createFairSlots({ total: 32, perPerson: 8, perStranger: 8 });
    const { sshPort } = await openDoors({}, { sshConnections });
    const key = ssh2.utils.parseKey(privateKey) as ssh2.ParsedKey;
    const [locked, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const lookingUp = app.ctx.db.transaction().execute(async (trx) => {
      await locked.promise;
      await sql`lock table ssh_key in access exclusive mode`.execute(trx);
      leave.resolve();
      await expect.poll(() => waitingForLocks()).toBeGreaterThan(0);
      client.destroy();
      await expect.poll(() => sshConnections.held).toBe(0);
    });
    /** Signs once the keys are locked, so that the platform waits for them with the signature in its hands. */
    class Agent extends ssh2.BaseAgent {
      override getIdentities(done: (error: Error | null, keys: ssh2.ParsedKey[]) => void): void {
        done(null, [key]);
      }
      override sign(
        _key: unknown,
        data: Buffer,
        _options: unknown,
        done?: (error: Error | null, signature?: Buffer) => void,
      ): void {
        locked.resolve();
        void leave.promise.then(() => done?.(null, key.sign(data) as Buffer));
      }
    }
    const client = new ssh2.Client().on('error', () => {});
    client.connect({ host: '127.0.0.1', port: sshPort, username: 'git', agent: new Agent() as never });
    await lookingUp;
    // The platform has looked the key up now, and lets in whoever comes next.
    (await login(sshPort)).end();
    await expect.poll(() => sshConnections.held).toBe(0);
  });

  it('ends a connection that is not logged in after a while', async () => {
    const { sshPort } = await openDoors({ loginMs: 1_500 });
    const { socket, said } = await greeting(sshPort);
    expect(said).toMatch(GREETING);
    socket.write('SSH-2.0-slow\r\n');
    await once(socket, 'close');
  });

  it('keeps one that is logged in', async () => {
    const { sshPort } = await openDoors({ loginMs: 1_500 });
    const client = await login(sshPort);
    const slow = await greeting(sshPort);
    // The other came later and is past its time.
    await once(slow.socket, 'close');
    const code = await new Promise((resolve, reject) => {
      client.exec(`git-upload-pack '/${path()}'`, (error, channel) => {
        if (error) return reject(error);
        channel.on('exit', resolve).resume();
        channel.end('0000');
      });
    });
    expect(code).toBe(0);
    client.end();
  });

  it('ends one whose command does not come', async () => {
    const { sshPort } = await openDoors({ idleMs: 1_000 });
    await once(await login(sshPort), 'close');
  });

  it('takes so many keys and no more', async () => {
    const { sshPort } = await openDoors({ maxTries: 4 });
    const wrong = newPrivateKey();
    /** Each key that is offered is a try, and the signature with the right one too. */
    const offering = (others: number): ssh2.ConnectConfig => ({
      authHandler: [...Array.from({ length: others }, () => wrong), privateKey].map((key) => ({
        type: 'publickey' as const,
        username: 'git',
        key,
      })),
    });
    (await login(sshPort, offering(2))).end();
    const client = new ssh2.Client();
    let isReady = false;
    client.once('ready', () => {
      isReady = true;
    });
    client.on('error', () => {});
    client.connect({ host: '127.0.0.1', port: sshPort, username: 'git', ...offering(3) });
    await once(client, 'close');
    expect(isReady).toBe(false);
  });
});
