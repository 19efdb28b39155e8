import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, dial, enrolNode, makeKey, type NodeKey, type TestDaemon } from '../testing/daemon.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { comesToRest, EVERY_MS, openWire, portOf, promptly, times } from '../testing/greed.ts';
import type { Person } from '../testing/person.ts';
import {
  beginningOfFrame,
  CONTINUATION,
  comeAgain,
  comeRaw,
  type OpenLink,
  type Stranger,
} from './testing/strangers.ts';

/** An eighth of the links that may be open without a proof, for one address. */
const OF_ADDRESS = 128;
const AT_ONCE = 160;

let app: TestApp;
let ben: Person;
let key: NodeKey;
let strangers: Stranger[] = [];
let timers: NodeJS.Timeout[] = [];

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  ben = await app.signUp('Ben');
  key = await aServer();
});
// Those of the test before are gone.
beforeEach(async () => {
  const connect = async (): Promise<boolean> => {
    const daemon = await connectDaemon(app.url, key).catch(() => null);
    await daemon?.close();
    return daemon !== null;
  };
  await expect.poll(connect).toBe(true);
});
afterEach(() => {
  for (const stranger of strangers) stranger.leave();
  timers.forEach(clearInterval);
  [strangers, timers] = [[], []];
});
afterAll(() => app?.close());

async function aServer(): Promise<NodeKey> {
  const id = await aRentedInstance(app.ctx, ben);
  const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
  return enrolNode(app.url, token);
}

/** At the same address. */
async function aDaemonIsServed(of = key): Promise<void> {
  const daemon = await promptly('a daemon', () => connectDaemon(app.url, of));
  expect((await promptly('its desired state', () => daemon.desired())).node).toBe(of.node);
  await daemon.close();
}

const often = (link: OpenLink, act: (link: OpenLink) => void): void =>
  void timers.push(setInterval(() => act(link), EVERY_MS));
const auth = (node: string, proof: string): string => JSON.stringify({ type: 'auth', node, proof });

/** They stay as long as they may. */
const STAYING: [what: string, come: () => Stranger][] = [
  ['say nothing', () => comeAgain(app.url, () => {}, { once: true })],
  ['only ping', () => comeAgain(app.url, (link) => often(link, () => link.ping()), { once: true })],
  ['stop in the middle of a frame', () => comeRaw(app.url, beginningOfFrame(1_000_000, '{"type":"auth","node":"'))],
  [
    'send a frame byte by byte',
    () => comeRaw(app.url, beginningOfFrame(1_000_000, '{"type":"auth","node":"'), Buffer.from('1')),
  ],
  ['send a message without an end', () => comeRaw(app.url, beginningOfFrame(1, '{', false), CONTINUATION)],
  ['begin the header of a frame', () => comeRaw(app.url, Buffer.from([0x81]))],
];

/** They are sent away, and come again at once. */
const COMING: [what: string, come: () => Stranger][] = [
  ['prove nothing', () => comeAgain(app.url, (link) => link.send(auth(key.node, 'x.y.z')))],
  ['name a server that is not there', () => comeAgain(app.url, (link) => link.send(auth('2147483647', 'x.y.z')))],
  ['say what is no message', () => comeAgain(app.url, (link) => link.send('hello'))],
  ['send bytes', () => comeAgain(app.url, (link) => link.send(Buffer.alloc(13, 255)))],
  ['speak before they have proved who they are', () => comeAgain(app.url, (link) => link.send('{"type":"heartbeat"}'))],
  ['hang up', () => comeAgain(app.url, (link) => link.close())],
];

const held = (): number => strangers.filter((one) => one.isOpen()).length;
const sum = (count: (one: Stranger) => number): number => strangers.reduce((all, one) => all + count(one), 0);
const tell = (what: string): void =>
  console.log(
    `greed: ${held()} links held, ${sum((one) => one.opened())} opened, ${sum((one) => one.refused())} refused: ${what}`,
  );

describe('alone on the platform', () => {
  it('eight daemons of one address connect at once', async () => {
    const keys = await times(8, aServer);
    const daemons = await Promise.all(keys.map((one) => connectDaemon(app.url, one)));
    expect(daemons.every(({ socket }) => socket.readyState === socket.OPEN)).toBe(true);
    await Promise.all(daemons.map((daemon) => daemon.close()));
  });

  it('eight strangers may be silent', async () => {
    strangers = Array.from({ length: 8 }, () => comeAgain(app.url, () => {}, { once: true }));
    expect(await comesToRest(held)).toBe(8);
  });
});

describe('daemons connect at the same address while 160 strangers', () => {
  it.each(STAYING)('%s', async (what, come) => {
    strangers = Array.from({ length: AT_ONCE }, come);
    await expect.poll(held).toBeGreaterThan(40);
    await aDaemonIsServed();
    const most = await comesToRest(held);
    tell(what);
    await aDaemonIsServed();
    expect(most).toBeLessThanOrEqual(OF_ADDRESS);
  });

  it.each(COMING)('%s, and come again', async (what, come) => {
    strangers = Array.from({ length: AT_ONCE }, come);
    await expect.poll(() => sum((one) => one.opened()) + sum((one) => one.refused())).toBeGreaterThan(3 * AT_ONCE);
    await aDaemonIsServed();
    await aDaemonIsServed();
    tell(what);
  });

  it('do not finish asking', async () => {
    const wires = await times(AT_ONCE, () => openWire(portOf(app.url), 'GET /daemon-api/link HTTP/1.1\r\nHost: '));
    await aDaemonIsServed();
    for (const wire of wires) wire.close();
  });

  it('send proofs of a key of their own', async () => {
    let isOver = false;
    const wrong = { ...key, privateKey: makeKey().privateKey };
    const go = async (): Promise<void> => {
      // Refused or cut: they come again.
      while (!isOver)
        await dial(app.url, wrong).then(
          (daemon) => daemon.closed,
          () => null,
        );
    };
    const all = Array.from({ length: AT_ONCE }, go);
    await comesToRest(() => 0);
    await aDaemonIsServed().finally(() => {
      isOver = true;
    });
    await Promise.all(all);
  });
});

describe('daemons of others', () => {
  it('connect while strangers at four other addresses are silent', async () => {
    strangers = Array.from({ length: 4 * AT_ONCE }, (_, n) =>
      comeAgain(app.url, () => {}, { once: true, from: `127.0.0.${2 + (n % 4)}` }),
    );
    await expect.poll(held).toBeGreaterThan(40);
    await aDaemonIsServed();
    expect(await comesToRest(held)).toBeLessThanOrEqual(4 * OF_ADDRESS);
  });

  it('stay connected while strangers come', async () => {
    const daemon: TestDaemon = await connectDaemon(app.url, key);
    strangers = Array.from({ length: 2 * AT_ONCE }, () => comeAgain(app.url, () => {}, { once: true }));
    await expect.poll(held).toBeGreaterThan(40);
    await comesToRest(held);
    expect(daemon.socket.readyState).toBe(daemon.socket.OPEN);
    await daemon.close();
  });
});
