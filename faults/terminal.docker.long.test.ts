import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { api } from '@stagi/contract/api.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { docker, ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aRentedInstance, aSelfHostedServer } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { letIn } from './letIn.ts';
import { percentile } from './random.ts';
import { type AskedTerminal, terminalAddress, ticketOf, upgradeStatus, viewTerminal } from './terminalViewer.ts';
import { until } from './until.ts';

const MB = 1024 * 1024;

let app: TestApp;
let ada: Person;
let serverId: number;
let containerId: number;
let otherContainerId: number;
let daemon: TestDaemon;
let made = 0;

beforeAll(async () => {
  await ensureTestImage();
  app = await startTestApp();
  ada = await app.signUp('Ada');
  serverId = await aRentedInstance(app.ctx, ada);
  const { token } = await issueEnrolment(app.ctx, app.ctx.db, serverId, 'rented');
  daemon = await createDaemon({ node: String(serverId), token: async () => token });
  daemon.start();
  await until('the server can open terminals', async () => {
    const { entity } = await ada.client(api.instances.view, { id: serverId });
    return entity.terminalRefusal === null;
  });
  containerId = await aContainer();
  otherContainerId = await aContainer();
}, 120_000);
afterAll(async () => {
  await daemon?.cleanUp();
  await app?.close();
});

async function aContainer(): Promise<number> {
  made += 1;
  const slug = `terminal-${process.pid}-${made}`;
  const { entity } = await ada.client(api.containers.create, {
    instanceRef: { id: serverId },
    title: slug,
    slug,
    dockerImage: TEST_IMAGE,
    command: 'sleep 10000',
    cpus: 0.5,
  });
  await until('the container runs', async () => {
    const { entity: container } = await ada.client(api.containers.view, { id: entity.id });
    return container.terminalRefusal === null;
  });
  return entity.id;
}

/** A member of the workspace of Ada. */
async function aMember(role: 'Admin' | 'Guest'): Promise<Person> {
  const member = await app.signUp();
  await letIn(app.ctx.db, ada, member, role);
  return member;
}

type Asked = Partial<AskedTerminal>;

/** Asks for the first container, unless another place is named. */
const withPlace = (asked: Asked): AskedTerminal => ({ path: `docker-container/${containerId}`, ...asked });
const address = (ticket: string, asked: Asked = {}): string => terminalAddress(app.url, ticket, withPlace(asked));
const statusOf = (url: string, origin = app.url): Promise<number> => upgradeStatus(url, origin);
const open = (person: Person, asked: Asked = {}) => viewTerminal(app.url, person, withPlace(asked));

it('opens for nobody else, and takes nothing that it does not know', async () => {
  const mallory = await app.signUp('Mallory');
  const guest = await aMember('Guest');
  const admin = await aMember('Admin');
  const own = await aSelfHostedServer(app.ctx, mallory);
  const mine = randomUUID();
  const terminal = await open(ada, { session: mine });
  await terminal.of('opened');
  let n = 0;
  const refused = async (what: string, url: string, status: number, origin?: string): Promise<void> => {
    n += 1;
    expect(await statusOf(url, origin), what).toBe(status);
  };
  const spent = await ticketOf(ada);
  expect(await statusOf(address(spent, { session: mine, offset: '0' }))).toBe(101);
  await refused('a used ticket', address(spent), 401);
  await refused('no ticket', address(''), 401);
  await refused('another site', address(await ticketOf(ada)), 403, 'https://evil.example');
  for (const path of [
    `docker-container/${containerId}`,
    'docker-container/999999',
    `instance-rented/${serverId}`,
    `self-hosted-instance/${serverId}`,
  ])
    await refused(`${path} of another workspace`, address(await ticketOf(mallory), { path }), 404);
  await refused('a guest', address(await ticketOf(guest)), 404);
  await refused(
    'the server, for a guest',
    address(await ticketOf(guest), { path: `instance-rented/${serverId}` }),
    403,
  );
  await refused('another kind', address(await ticketOf(ada), { path: `self-hosted-instance/${serverId}` }), 404);
  await refused('a server of others', address(await ticketOf(ada), { path: `self-hosted-instance/${own}` }), 404);
  const bad: Asked[] = [
    { session: 'mine' },
    { session: `${mine}'--` },
    { cols: '0' },
    { cols: '100000' },
    { rows: '-1' },
    { rows: 'NaN' },
    { shell: '/bin/sh' },
    { shell: 'sh -c reboot' },
    { offset: '-1' },
    { offset: '1e99' },
    { path: 'docker-container/-1' },
  ];
  for (const asked of bad) {
    const url = address(await ticketOf(ada), asked);
    n += 1;
    expect([400, 404], JSON.stringify(asked)).toContain(await statusOf(url));
  }
  for (const [person, asked] of [
    [admin, { session: mine }],
    [admin, { session: mine, offset: '0' }],
    [ada, { session: mine, path: `docker-container/${otherContainerId}` }],
    [ada, { session: mine, path: `instance-rented/${serverId}`, offset: '0' }],
    [ada, { offset: '0' }],
  ] as const) {
    const other = await open(person, asked);
    const { message } = await other.of('refused');
    n += 1;
    expect(message).toBe('This terminal has ended');
    other.socket.close();
  }
  for (const message of [
    'not JSON',
    '{}',
    '{"type":"input"}',
    '{"type":"resize","cols":0,"rows":24}',
    '{"type":"resize","cols":1e12,"rows":24}',
    '{"type":"resize","cols":"80","rows":24}',
    '{"type":"shown","offset":-1}',
    '[]',
  ]) {
    const other = await open(ada, { session: mine, offset: '0' });
    await other.of('resumed');
    other.socket.send(message);
    n += 1;
    expect(await other.closed, message).toBe(STREAM_CLOSE.badMessage);
  }
  const back = await open(ada, { session: mine, offset: '0' });
  await back.of('resumed');
  back.tell({ type: 'close' });
  await back.of('exit');
  console.log(`terminals: n = ${n} hostile attempts, 0 accepted`);
});

it('opens a shell of a rented server itself', async () => {
  const terminal = await open(ada, { path: `instance-rented/${serverId}`, shell: 'sh' });
  expect(await terminal.of('opened')).toMatchObject({ shell: 'sh' });
  terminal.type('stty size; echo $((6*7)) 日本語\n');
  await terminal.hears(() => terminal.text().includes('24 80'));
  await terminal.hears(() => terminal.text().includes('42 日本語'));
  terminal.type('exit 4\n');
  expect(await terminal.of('exit')).toMatchObject({ code: 4 });
});

it('echoes a key quickly', async () => {
  const terminal = await open(ada);
  await terminal.of('opened');
  terminal.type('echo rea""dy\n');
  await terminal.hears(() => terminal.text().includes('\nready'));
  const took: number[] = [];
  for (let n = 0; n < 250; n += 1) {
    const before = terminal.bytes();
    const begun = performance.now();
    terminal.type('x');
    await terminal.hears(() => terminal.bytes() > before);
    took.push(performance.now() - begun);
  }
  const p95 = percentile(took, 0.95);
  console.log(
    `terminals: key to echo p50 ${percentile(took, 0.5).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, n = ${took.length}`,
  );
  expect(p95).toBeLessThan(process.env.CI ? 300 : 100);
  terminal.tell({ type: 'close' });
  await terminal.of('exit');
});

it('passes 50 MB on without growing', { timeout: 120_000 }, async () => {
  const terminal = await open(ada);
  await terminal.of('opened');
  terminal.type('echo rea""dy\n');
  await terminal.hears(() => terminal.text().includes('\nready'));
  const [before, daemonBefore] = [process.memoryUsage().rss, await daemon.rssBytes()];
  let [peak, daemonPeak] = [before, daemonBefore];
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
    void daemon.rssBytes().then((rss) => {
      daemonPeak = Math.max(daemonPeak, rss);
    });
  }, 50);
  const begun = performance.now();
  terminal.type('busybox yes 0123456789abcdef | busybox head -c 50000000; echo; echo do""ne\n');
  await terminal.hears(() => terminal.text().includes('\ndone'));
  clearInterval(watch);
  const grown = (peak - before) / MB;
  const grownDaemon = (daemonPeak - daemonBefore) / MB;
  console.log(
    `terminals: ${(terminal.bytes() / MB).toFixed(0)} MB in ${((performance.now() - begun) / 1000).toFixed(1)} s, platform and reader + ${grown.toFixed(0)} MB, daemon + ${grownDaemon.toFixed(0)} MB, n = 1`,
  );
  expect(terminal.bytes()).toBeGreaterThan(50_000_000);
  expect(grownDaemon).toBeLessThan(40);
  terminal.tell({ type: 'close' });
  await terminal.of('exit');
});

it('holds back output that its reader does not show', async () => {
  const idle = await processesIn(containerId);
  const terminal = await open(ada);
  await terminal.of('opened');
  // This reader says nothing of what it has shown.
  terminal.socket.removeAllListeners('message');
  let bytes = 0;
  terminal.socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) bytes += data.length;
  });
  terminal.type('busybox yes 0123456789abcdef\n');
  await until('it stops', async () => {
    const before = bytes;
    for (let n = 0; n < 20; n += 1) {
      terminal.socket.ping();
      await once(terminal.socket, 'pong');
    }
    return before > 500_000 && bytes === before;
  });
  expect(bytes).toBeLessThan(2 * MB);
  terminal.tell({ type: 'shown', offset: bytes });
  const before = bytes;
  await until('it goes on', async () => bytes > before);
  terminal.tell({ type: 'close' });
  await until('it is over', async () => (await processesIn(containerId)) <= idle);
  terminal.socket.close();
});

it('ends within 2 s of the removal of its owner, with what runs in it', async () => {
  const idle = await processesIn(containerId);
  const member = await aMember('Admin');
  const terminal = await open(member);
  await terminal.of('opened');
  terminal.type('sleep 5000\n');
  await until('it runs', async () => (await processesIn(containerId)) === idle + 2);
  const begun = performance.now();
  await ada.client(api.clients.removeMember, { userId: member.userId });
  expect(await terminal.closed).toBe(STREAM_CLOSE.workspaceGone);
  const ms = performance.now() - begun;
  await until('nothing is left', async () => (await processesIn(containerId)) <= idle);
  console.log(`terminals: ended ${ms.toFixed(0)} ms after the removal of its owner, n = 1`);
  expect(ms).toBeLessThan(2000);
  const { rows } = await sql<{ action: string; detail: Record<string, unknown> }>`select action, detail from audit
    where actor_id = ${member.userId} and action like '%/terminal/%' order by seq`.execute(app.ctx.db);
  expect(rows.map(({ action }) => action)).toEqual(['docker-container/terminal/open', 'docker-container/terminal/end']);
  expect(rows[1]!.detail).toMatchObject({ reason: 'access ended' });
});

async function processesIn(id: number): Promise<number> {
  const { entity } = await ada.client(api.containers.view, { id });
  const { Processes } = await docker.getContainer(`stagi-${entity.slug}`).top();
  return Processes.length;
}
