import { randomUUID } from 'node:crypto';
import { readlink } from 'node:fs/promises';
import { api } from '@stagi/contract/api.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { letIn } from './letIn.ts';
import { type StreamLab, startStreamLab } from './streamLab.ts';
import { type AskedTerminal, terminalAddress, ticketOf, upgradeStatus, viewTerminal } from './terminalViewer.ts';
import { until } from './until.ts';

let lab: StreamLab;
beforeAll(async () => {
  lab = await startStreamLab();
});
afterAll(() => lab?.close());

const server = (): string => `instance-rented/${lab.serverId}`;
const open = (person: Person, asked: Partial<AskedTerminal> = {}) =>
  viewTerminal(lab.app.url, person, { path: server(), shell: 'sh', ...asked });

async function aMember(role: 'Admin' | 'Guest'): Promise<Person> {
  const member = await lab.app.signUp();
  await letIn(lab.app.ctx.db, lab.owner, member, role);
  return member;
}

/** A program in a shell of the server. Its process id is the last thing that it writes. */
async function runSleep(terminal: Awaited<ReturnType<typeof open>>): Promise<number> {
  terminal.type('exec sleep 5000 & echo "pid"=$!=\n');
  const written = await terminal.hears(() => /pid=(\d+)=/.exec(terminal.text()) ?? undefined);
  return Number(written[1]);
}

const isRunning = (pid: number): Promise<boolean> =>
  readlink(`/proc/${pid}/exe`).then(
    () => true,
    () => false,
  );

async function auditedTerminals(person: Person): Promise<{ action: string; detail: Record<string, unknown> }[]> {
  const { rows } = await sql<{ action: string; detail: Record<string, unknown> }>`select action, detail from audit
    where actor_id = ${person.userId} and action like '%/terminal/%' order by seq`.execute(lab.app.ctx.db);
  return rows;
}

const LOSSES: { way: string; lose(member: Person): Promise<unknown>; code: number }[] = [
  {
    way: 'the role that allows it',
    lose: ({ userId }) => lab.owner.client(api.clients.editMember, { userId, role: 'Guest' }),
    code: STREAM_CLOSE.noAccess,
  },
  {
    way: 'the workspace',
    lose: ({ userId }) => lab.owner.client(api.clients.removeMember, { userId }),
    code: STREAM_CLOSE.workspaceGone,
  },
  {
    way: 'the session',
    lose: (member) => member.client(api.auth.logout, { refreshToken: member.tokens().refreshToken }),
    code: STREAM_CLOSE.signedOut,
  },
];

it.each(LOSSES)('ends with what runs in it when its owner loses $way', async ({ lose, code }) => {
  const member = await aMember('Admin');
  const terminal = await open(member);
  await terminal.of('opened');
  const pid = await runSleep(terminal);
  expect(await isRunning(pid)).toBe(true);
  await lose(member);
  expect(await terminal.closed).toBe(code);
  await until('its program has ended', async () => !(await isRunning(pid)));
  await until('its end is written down', async () => (await auditedTerminals(member)).length === 2);
  expect(await auditedTerminals(member)).toMatchObject([
    { action: 'instance-rented/terminal/open' },
    { action: 'instance-rented/terminal/end', detail: { reason: 'access ended' } },
  ]);
});

it('goes on for its owner who comes back, and for nobody else', async () => {
  const session = randomUUID();
  const first = await open(lab.owner, { session });
  await first.of('opened');
  const pid = await runSleep(first);
  const seen = first.bytes();
  first.socket.terminate();

  const admin = await aMember('Admin');
  for (const offset of [undefined, '0']) {
    const other = await open(admin, { session, ...(offset && { offset }) });
    expect(await other.of('refused')).toMatchObject({ message: 'This terminal has ended', retry: false });
    other.socket.terminate();
  }
  const { url } = lab.app;
  const guest = await aMember('Guest');
  const stranger = await lab.app.signUp();
  for (const [person, status] of [
    [guest, 403],
    [stranger, 404],
  ] as const)
    expect(await upgradeStatus(terminalAddress(url, await ticketOf(person), { path: server(), session }), url)).toBe(
      status,
    );

  const back = await open(lab.owner, { session, offset: String(seen) });
  expect(await back.of('resumed')).toMatchObject({ offset: seen, dropped: 0 });
  expect(await isRunning(pid)).toBe(true);
  back.type('echo ba""ck\n');
  await back.hears(() => back.text().includes('\nback'));
  back.tell({ type: 'close' });
  await back.of('exit');
  await until('its program has ended', async () => !(await isRunning(pid)));
});
