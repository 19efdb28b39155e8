import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aContainer, anApiToken, aRentedInstance } from '../testing/factories.ts';
import { as, asToken, bytesOfCall, openWire, portOf, promptly, times, type Wire } from '../testing/greed.ts';
import type { Person } from '../testing/person.ts';
import { HOSTILE, storeLines, storeLongLog } from './testing/hostileSearches.ts';

/** Searches of one person at a time. */
const SHARE = 2;
const AT_ONCE = 24;
/** Compared with each letter of a line that has only the first of them. */
const ALMOST = `${'a'.repeat(255)}b`;

let app: TestApp;
let eve: Person;
let ben: Person;
/** Each in a workspace of its own, with 60 MB of log. */
let logs: { container: number; token: string; workspaceId: number }[];
let bens: number;
let wires: Wire[] = [];

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  [eve, ben] = [await app.signUp('Eve'), await app.signUp('Ben')];
  const { entity } = await eve.client(api.clients.create, { name: 'Another' });
  logs = [];
  for (const workspaceId of [eve.workspaceId, entity.clientId]) {
    eve.useWorkspace(workspaceId);
    const container = await aContainer(app.ctx, eve, await aRentedInstance(app.ctx, eve));
    await storeLongLog({ app }, container);
    logs.push({ container, token: (await anApiToken(app.ctx, eve)).token, workspaceId });
  }
  bens = await aContainer(app.ctx, ben, await aRentedInstance(app.ctx, ben));
  await storeLines({ app }, bens, ['hello', 'another line', 'goodbye']);
});
afterAll(() => app?.close());

/** Queries of the platform's that search logs now. */
async function searching(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where state = 'active' and datname = current_database() and query like '%log_lines_found(%'
      and pid <> pg_backend_pid()`.execute(app.ctx.db);
  return rows[0]!.count;
}

// Nobody waits for their answers any more.
afterEach(async () => {
  for (const wire of wires) wire.close();
  wires = [];
  const end = async (): Promise<number> => {
    await sql`select pg_cancel_backend(pid) from pg_stat_activity where state = 'active'
      and datname = current_database() and query like '%log_lines_found(%' and pid <> pg_backend_pid()`.execute(
      app.ctx.db,
    );
    return searching();
  };
  let quiet = 0;
  await expect
    .poll(async () => {
      quiet = (await end()) === 0 ? quiet + 1 : 0;
      return quiet;
    })
    .toBeGreaterThan(10);
});

type Log = (typeof logs)[number];
type Question = Omit<Parameters<typeof bytesOfCall<typeof api.logging.query>>[1], 'source'>;
const search = ({ container, workspaceId }: Log, question: Question, headers = as(eve, workspaceId)): string =>
  bytesOfCall(api.logging.query, { source: { type: 'docker-container', id: container }, ...question }, headers);
const NOW = new Date().toISOString();
const THEN = new Date(0).toISOString();

const ATTACKS: [what: string, bytes: (log: Log, n: number) => string][] = [
  ['searches for a text that is almost there', () => search(logs[0]!, { text: ALMOST })],
  ['searches for short texts', () => search(logs[0]!, { text: 'aab' })],
  ['searches forward', () => search(logs[0]!, { text: ALMOST, cursor: { after: 0 } })],
  ['searches a time', () => search(logs[0]!, { text: ALMOST, from: THEN, to: NOW, cursor: { before: 2_900 } })],
  ['searches logs of two workspaces', (log) => search(log, { text: ALMOST })],
  ['searches with API tokens', (log) => search(log, { text: ALMOST }, asToken(log.token))],
  ['searches by regular expressions', (log, n) => search(log, { mode: 'regex', text: HOSTILE[n % HOSTILE.length]! })],
  [
    'searches in both ways',
    (log, n) => search(log, n % 2 ? { text: ALMOST } : { mode: 'regex', text: HOSTILE[n % HOSTILE.length]! }),
  ],
];

async function anotherIsServed(): Promise<void> {
  const source = { type: 'docker-container', id: bens } as const;
  const found = await promptly('another’s search', () => ben.client(api.logging.query, { source, text: 'another' }));
  expect(found.lines.map(({ text }) => text)).toEqual(['another line']);
  const read = await promptly('another’s log', () => ben.client(api.logging.query, { source }));
  expect(read.lines).toHaveLength(3);
  await promptly('another’s containers', () => ben.client(api.containers.list, {}));
  await promptly('another’s change', () => ben.client(api.user.edit, { name: 'Ben' }));
}

describe('others are served while one person', () => {
  it.each(ATTACKS)('%s', async (what, bytes) => {
    wires = await times(AT_ONCE, (n) => openWire(portOf(app.url), bytes(logs[n % 2]!, n)));
    await expect.poll(searching).toBeGreaterThan(0);
    let most = 0;
    for (let n = 0; n < 10; n += 1) most = Math.max(most, await promptly('a look at the database', searching));
    console.log(`greed: ${most} searches at once: ${what}`);
    await anotherIsServed();
    expect(most).toBeLessThanOrEqual(SHARE);
    await anotherIsServed();
  });

  it('searches, hangs up and searches again', async () => {
    for (let round = 0; round < 5; round += 1)
      for (const wire of await times(AT_ONCE, (n) => openWire(portOf(app.url), search(logs[n % 2]!, { text: ALMOST }))))
        wire.close();
    await expect.poll(searching).toBeGreaterThan(0);
    await anotherIsServed();
    expect(await searching()).toBeLessThanOrEqual(SHARE);
  });

  it('reads pages of 20 MB', async () => {
    wires = await times(AT_ONCE, (n) =>
      openWire(portOf(app.url), search(logs[n % 2]!, { limit: 1_000 }), { reading: 'beginning' }),
    );
    await anotherIsServed();
    await anotherIsServed();
  });
});

describe('a search of one person', () => {
  it('ends within two seconds, whatever text it is for', async () => {
    const [log] = logs as [Log];
    eve.useWorkspace(log.workspaceId);
    const source = { type: 'docker-container', id: log.container } as const;
    const ask = (): Promise<number> =>
      eve.client(api.logging.query, { source, text: ALMOST }).then(
        () => 200,
        (error: { status: number }) => error.status,
      );
    // It has looked at no line to its end, or says which lines it found.
    expect([200, 400]).toContain(await promptly('one’s own search', ask));
  });
});

describe('alone on the platform', () => {
  it('one gets eight searches, at once or in turn', async () => {
    const source = { type: 'docker-container', id: bens } as const;
    for (const question of [{ text: 'another' }, { mode: 'regex', text: 'an.*er' }] as const) {
      const answers = await times(8, () => ben.client(api.logging.query, { source, ...question }));
      expect(answers.map(({ lines }) => lines.length)).toEqual(answers.map(() => 1));
    }
  });
});
