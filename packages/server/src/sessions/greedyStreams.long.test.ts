import { randomBytes } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { generateKeyPair } from '../sshKeys/generate.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aContainer, anApiToken, aRentedInstance } from '../testing/factories.ts';
import { as, asToken, headOf, openWire, portOf, promptly, times, type Wire } from '../testing/greed.ts';
import type { Person } from '../testing/person.ts';
import { joinSilentDaemon, type SilentDaemon } from '../volumeFiles/testing/silentDaemon.ts';
import { type Opening, openStream, tailPath, terminalPath, ticketFor } from './testing/openings.ts';
import { FIREFOX, signInAs } from './testing/signIn.ts';

/** Streams of one person at a time. */
const SHARE = 64;
const AT_ONCE = 120;

let app: TestApp;
let eve: Person;
let ben: Person;
let daemon: SilentDaemon;
let evesToken: string;
let otherSession: string;
let otherWorkspace: number;
let otherContainer: number;
let bensContainer: number;
let opened: Opening[] = [];
let wires: Wire[] = [];

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  [eve, ben] = [await app.signUp('Eve'), await app.signUp('Ben')];
  daemon = await joinSilentDaemon(app, eve);
  evesToken = (await anApiToken(app.ctx, eve)).token;
  otherSession = (await signInAs(app, eve, FIREFOX)).accessToken;
  const { entity } = await eve.client(api.clients.create, { name: 'Another' });
  otherWorkspace = entity.clientId;
  const home = eve.workspaceId;
  eve.useWorkspace(otherWorkspace);
  otherContainer = await aContainer(app.ctx, eve, await aRentedInstance(app.ctx, eve));
  eve.useWorkspace(home);
  bensContainer = await aContainer(app.ctx, ben, await aRentedInstance(app.ctx, ben));
});
afterEach(async () => {
  for (const wire of wires) wire.close();
  await Promise.all([...opened.map((one) => one.leave()), ...wires.map(({ closed }) => closed)]);
  [opened, wires] = [[], []];
});
afterAll(async () => {
  await daemon?.close();
  await app?.close();
});

type Asked = [path: string, headers: Readonly<Record<string, string | number>>];

async function open([path, headers]: Asked): Promise<Opening> {
  const one = await openStream(app, path, await ticketFor(app, headers));
  opened.push(one);
  return one;
}

const events = (headers: Asked[1] = as(eve)): Asked => ['events', headers];
const tail = (): Asked => [tailPath(daemon.containerId), as(eve)];
const terminal = (): Asked => [terminalPath(daemon.containerId), as(eve)];

async function anotherIsServed(): Promise<void> {
  const stream = await promptly('another’s event stream', () => open(events(as(ben))));
  expect(stream.status).toBe(101);
  const { publicKey } = await generateKeyPair('ed25519', 'me');
  await ben.client(api.sshKeys.add, { title: randomBytes(6).toString('hex'), publicKey });
  await promptly('another’s event', () =>
    expect.poll(() => stream.received.join(), { interval: 20 }).toContain('ssh-key'),
  );
  const log = await promptly('another’s log', () => open([tailPath(bensContainer), as(ben)]));
  expect(log.status).toBe(101);
}

const ATTACKS: [what: string, asked: (n: number) => Asked][] = [
  ['of events', () => events()],
  ['of a log', tail],
  ['that are terminals', terminal],
  ['of three kinds', (n) => [events, tail, terminal][n % 3]!()],
  ['with an API token', (n) => (n % 2 ? events(asToken(evesToken)) : events())],
  ['with two sessions', (n) => events({ ...as(eve), ...(n % 2 && asToken(otherSession)) })],
  [
    'in two workspaces',
    (n) => (n % 2 ? [tailPath(otherContainer), as(eve, otherWorkspace)] : [tailPath(daemon.containerId), as(eve)]),
  ],
];

describe('others follow what happens while one person opens 120 streams', () => {
  it.each(ATTACKS)('%s', async (what, asked) => {
    const all = await times(AT_ONCE, (n) => open(asked(n)));
    const held = all.filter(({ status }) => status === 101).length;
    console.log(`greed: ${held} streams: ${what}`);
    await anotherIsServed();
    expect(held).toBe(SHARE);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([101, 429]));
  });

  it('all in one moment', async () => {
    const tickets = await times(AT_ONCE, () => ticketFor(app, as(eve)));
    const all = await Promise.all(tickets.map((ticket) => openStream(app, 'events', ticket)));
    opened.push(...all);
    await anotherIsServed();
    expect(all.filter(({ status }) => status === 101).length).toBe(SHARE);
  });

  it('and reads nothing of them, nor answers a ping', async () => {
    const tickets = await times(AT_ONCE, () => ticketFor(app, as(eve)));
    wires = await Promise.all(
      tickets.map((ticket) =>
        openWire(
          portOf(app.url),
          headOf('GET', `${API_PREFIX}events?ticket=${ticket}`, {
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-version': 13,
            'sec-websocket-key': randomBytes(16).toString('base64'),
          }),
          { reading: 'beginning' },
        ),
      ),
    );
    await expect.poll(() => wires.filter((wire) => wire.status() !== null).length).toBe(AT_ONCE);
    await anotherIsServed();
    expect(wires.filter((wire) => wire.status() === 101).length).toBe(SHARE);
  });

  it('and others that were open before stay open', async () => {
    const before = await open(events(as(ben)));
    await times(AT_ONCE, () => open(events()));
    const { publicKey } = await generateKeyPair('ed25519', 'me');
    await ben.client(api.sshKeys.add, { title: 'still there', publicKey });
    await promptly('another’s event', () =>
      expect.poll(() => before.received.join(), { interval: 20 }).toContain('ssh-key'),
    );
    expect(before.code()).toBeNull();
  });
});

describe('a place is given back', () => {
  const isOpen = async (asked: Asked): Promise<void> => {
    const all = await times(8, () => open(asked));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 101));
  };

  it('when a stream is closed, or breaks off', async () => {
    for (let round = 0; round < 3; round += 1) {
      const all = await times(50, () => open(events()));
      expect(all.map(({ status }) => status)).toEqual(all.map(() => 101));
      for (const { socket } of all.slice(0, 25)) socket.terminate();
      await Promise.all(all.map((one) => one.leave()));
      // The platform hears of it a moment later.
      await expect.poll(async () => (await open(events())).status).toBe(101);
    }
    await expect
      .poll(() =>
        isOpen(events()).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  it('when an opening is refused', async () => {
    const refused: [status: number, path: string][] = [
      [404, tailPath(bensContainer)],
      [404, terminalPath(bensContainer)],
      [400, 'logging/tail?type=nothing'],
      [400, `docker-container/${daemon.containerId}/terminal?session=1`],
    ];
    for (const [status, path] of refused) {
      const all = await times(AT_ONCE / 4, () => open([path, as(eve)]));
      expect(all.map((one) => one.status)).toEqual(all.map(() => status));
    }
    const unknown = await times(AT_ONCE, () => openStream(app, 'events', 'x'.repeat(32)));
    expect(new Set(unknown.map(({ status }) => status))).toEqual(new Set([401]));
    await isOpen(events());
  });
});

describe('alone on the platform', () => {
  it('one has eight streams of each kind', async () => {
    for (const asked of [events, tail, terminal]) {
      const all = await times(8, () => open(asked()));
      expect(all.map(({ status }) => status)).toEqual(all.map(() => 101));
    }
  });
});
