import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FIREFOX, signInAs } from '../sessions/testing/signIn.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken } from '../testing/factories.ts';
import {
  as,
  asToken,
  bytesOfCall,
  comesToRest,
  headOf,
  openWire,
  portOf,
  promptly,
  times,
  type Wire,
} from '../testing/greed.ts';
import type { Person } from '../testing/person.ts';
import { joinSilentDaemon, type SilentDaemon } from '../volumeFiles/testing/silentDaemon.ts';

/** Calls in progress that one person may have. */
const SHARE = 16;
const AT_ONCE = 300;
/** Calls of one person that may wait. */
const WAITING = 250;

let app: TestApp;
let eve: Person;
let ben: Person;
let daemon: SilentDaemon;
let tokens: string[];
let otherSession: string;
let wires: Wire[] = [];

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  [eve, ben] = [await app.signUp('Eve'), await app.signUp('Ben')];
  daemon = await joinSilentDaemon(app, eve);
  tokens = await times(4, async () => (await anApiToken(app.ctx, eve)).token);
  otherSession = (await signInAs(app, eve, FIREFOX)).accessToken;
});
afterEach(async () => {
  for (const wire of wires) wire.close();
  wires = [];
  const release = (): number => {
    daemon.release();
    return daemon.open();
  };
  await comesToRest(release, 0);
});
afterAll(async () => {
  await daemon?.close();
  await app?.close();
});

const hold = async (
  count: number,
  bytes: (n: number) => string,
  options: Parameters<typeof openWire>[2] = {},
): Promise<void> => {
  wires = await times(count, (n) => openWire(portOf(app.url), bytes(n), options));
  // All of them are under way.
  const answers = (): number => wires.reduce((sum, wire) => sum + wire.statuses().length, 0);
  if (options.again) await expect.poll(answers).toBeGreaterThan(2 * count);
  else await comesToRest(answers);
};

const list = (headers = as(eve)): string => bytesOfCall(api.volumeFiles.list, daemon.of, headers);
/** Says what the attack was answered. */
function tell(what: string): void {
  const counts = new Map<number, number>();
  for (const status of wires.flatMap((wire) => wire.statuses())) counts.set(status, (counts.get(status) ?? 0) + 1);
  console.log(`greed: answers by status ${JSON.stringify([...counts])}: ${what}`);
}

/** A call whose body does not come, or not all of it. */
const halfCall = (path: string, headers: Record<string, string | number>, body = ''): string =>
  headOf('POST', API_PREFIX + path, { 'content-type': 'application/json', ...headers }) + body;

/** Somebody with a credential, from the same address. */
async function anotherIsServed(): Promise<void> {
  await promptly('another’s call', () => ben.client(api.sshKeys.list, {}));
  await promptly('another’s change', () => ben.client(api.user.edit, { name: 'Ben' }));
  await promptly('eight calls of another at once', () => times(8, () => ben.client(api.projects.list, {})));
}

const HELD: [what: string, bytes: (n: number) => string][] = [
  ['with one session', () => list()],
  ['with two sessions', (n) => list({ ...as(eve), ...(n % 2 && asToken(otherSession)) })],
  ['with API tokens', (n) => list(asToken(tokens[n % tokens.length]!))],
  ['with sessions and tokens', (n) => list(n % 2 ? as(eve) : asToken(tokens[n % tokens.length]!))],
  [
    'of several kinds',
    (n) =>
      n % 2
        ? bytesOfCall(api.volumeFiles.read, { ...daemon.of, path: 'a' }, as(eve))
        : bytesOfCall(api.volumeFiles.mkdir, { ...daemon.of, path: 'a' }, as(eve)),
  ],
];

describe('others are served while one person has 300 calls that take long', () => {
  it.each(HELD)('%s', async (what, bytes) => {
    await hold(AT_ONCE, bytes);
    const held = await comesToRest(daemon.open);
    const refused = wires.map((wire) => wire.status()).filter((status) => status !== null);
    console.log(`greed: ${held} calls in progress`);
    tell(what);
    await anotherIsServed();
    expect(held).toBeLessThanOrEqual(SHARE);
    expect(refused.length).toBeGreaterThanOrEqual(AT_ONCE - SHARE - WAITING);
    expect([...new Set(refused)]).toEqual([429]);
  });

  it('and hangs up and calls again', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (const wire of await times(100, () => openWire(portOf(app.url), list()))) wire.close();
    }
    const held = await comesToRest(daemon.open);
    console.log(`greed: ${held} calls in progress of 300 whose callers have gone`);
    await anotherIsServed();
    expect(held).toBeLessThanOrEqual(SHARE);
  });
});

describe('others are served while one person', () => {
  const ATTACKS: [what: string, bytes: (n: number) => string, options?: Parameters<typeof openWire>[2]][] = [
    ['sends 300 calls without their bodies', () => halfCall('ssh-key/list', { ...as(eve), 'content-length': 1_000 })],
    [
      'sends 300 calls with half of their bodies',
      () => halfCall('ssh-key/list', { ...as(eve), 'content-length': 1_000_000 }, `{"a":"${'x'.repeat(500_000)}`),
    ],
    [
      'sends 300 bodies a byte now and then',
      () => halfCall('ssh-key/list', { ...as(eve), 'transfer-encoding': 'chunked' }, 'fffff\r\n'),
      { drips: ' ' },
    ],
    ['calls 300 times and at once again', () => bytesOfCall(api.projects.list, {}, as(eve)), { again: true }],
    [
      'reads no answer of 300 calls and calls on',
      () => bytesOfCall(api.projects.list, {}, as(eve)).repeat(5),
      { reading: 'beginning' },
    ],
  ];
  it.each(ATTACKS)('%s', async (what, bytes, options) => {
    await hold(AT_ONCE, bytes, options);
    await anotherIsServed();
    await anotherIsServed();
    tell(what);
  });
});

describe('who has a credential is served while strangers at the same address', () => {
  const wrong = () => ({ email: 'nobody@example.com', password: 'Correct-horse-8' });
  const ATTACKS: [what: string, bytes: (n: number) => string, options?: Parameters<typeof openWire>[2]][] = [
    ['sign in 300 times', () => bytesOfCall(api.auth.authentication, wrong())],
    ['ask for models 300 times and at once again', () => bytesOfCall(api.models.list, {}), { again: true }],
    [
      'show tokens that are none, 300 times and at once again',
      () => bytesOfCall(api.user.profile, {}, asToken('stg_1_nothing')),
      { again: true },
    ],
    [
      'show changed access tokens, 300 times and at once again',
      () => bytesOfCall(api.user.profile, {}, asToken(`${eve.tokens().accessToken.slice(0, -4)}AAAA`)),
      { again: true },
    ],
    ['send 300 calls without their bodies', () => halfCall('model/list', { 'content-length': 1_000 })],
    [
      'send 300 bodies a byte now and then',
      () => halfCall('model/list', { 'transfer-encoding': 'chunked' }, 'fffff\r\n'),
      { drips: ' ' },
    ],
  ];
  it.each(ATTACKS)('%s', async (what, bytes, options) => {
    await hold(AT_ONCE, bytes, options);
    await anotherIsServed();
    await anotherIsServed();
    tell(what);
  });

  it('ask from another address, and strangers at this one are served too', async () => {
    await hold(AT_ONCE, () => bytesOfCall(api.models.list, {}), { again: true, from: '127.0.0.2' });
    await anotherIsServed();
    await promptly('a stranger elsewhere', () => app.anonymous(api.models.list, {}));
  });
});

describe('alone on the platform', () => {
  it('one gets eight calls at once, and what waits in turn', async () => {
    await hold(8, () => list());
    await expect.poll(daemon.open).toBe(8);
    expect((await ben.client(api.sshKeys.list, {})).entities).toEqual([]);
    const answers = await times(200, () => ben.client(api.sshKeys.list, {}));
    expect(answers.map(({ isSuccess }) => isSuccess)).toEqual(answers.map(() => true));
  });

  it('strangers at one address get eight at once', async () => {
    const answers = await times(8, () => app.anonymous(api.models.list, {}));
    expect(answers.map(({ isSuccess }) => isSuccess)).toEqual(answers.map(() => true));
  });
});
