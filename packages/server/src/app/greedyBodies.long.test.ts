import { api } from '@stagi/contract/api.ts';
import { API_PREFIX, type Call, type InputOf } from '@stagi/contract/call.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FIREFOX, signInAs } from '../sessions/testing/signIn.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken } from '../testing/factories.ts';
import { as, asToken, comesToRest, headOf, openWire, portOf, promptly, times, type Wire } from '../testing/greed.ts';
import type { Person } from '../testing/person.ts';

const MiB = 1024 * 1024;
const AT_ONCE = 40;
const EDIT = 'user/edit';
const FEEDBACK = 'user-feedback/send/default';
const WRITE = 'docker-container/file/write';

let app: TestApp;
let eve: Person;
let evesToken: string;
let otherSession: string;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  eve = await app.signUp('Eve');
  evesToken = (await anApiToken(app.ctx, eve)).token;
  otherSession = (await signInAs(app, eve, FIREFOX)).accessToken;
});
afterAll(() => app?.close());

type Headers = Record<string, string | number>;
const head = (path: string, headers: Headers): string =>
  headOf('POST', API_PREFIX + path, { 'content-type': 'application/json', ...headers });
const part = (bytes: number): string => `{"x":"${'x'.repeat(bytes - 6)}`;
const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${part(bytes)}\r\n`;
const CHUNKED = { 'transfer-encoding': 'chunked' };

/** A call with so many bytes of body, most of them spaces. */
function largeCall<C extends Call>(call: C, input: InputOf<C>, bytes: number, headers: object): string {
  const body = JSON.stringify(input).padEnd(Math.floor(bytes), ' ');
  return head(call.path, { ...headers, 'content-length': Buffer.byteLength(body) }) + body;
}
const statusOf = async (bytes: string): Promise<number | null> => {
  const wire = await openWire(portOf(app.url), bytes);
  onTestFinished(wire.close);
  await expect.poll(() => wire.status(), { interval: 20 }).not.toBeNull();
  return wire.status();
};
const edit = (person: Person, bytes: number) => statusOf(largeCall(api.user.edit, { name: 'A' }, bytes, as(person)));
const feedback = (person: Person, bytes: number) => {
  const input = { topic: 'Report an issue', subject: 'x', description: 'x' } as const;
  return statusOf(largeCall(api.feedback.send, input, bytes, as(person)));
};
/** To a container that is not there: its body is read all the same. */
const write = (person: Person, bytes: number) => {
  const input = { id: 1, volume: '/data', path: 'a', text: '', etag: null };
  return statusOf(largeCall(api.volumeFiles.write, input, bytes, as(person)));
};

type Options = Parameters<typeof openWire>[2];
const ATTACKS: [what: string, count: number, bytes: (n: number) => string, options?: Options][] = [
  ['announces 7 MiB and sends nothing', AT_ONCE, () => head(EDIT, { ...as(eve), 'content-length': 7 * MiB })],
  [
    'announces 7 MiB and sends half',
    AT_ONCE,
    () => head(EDIT, { ...as(eve), 'content-length': 7 * MiB }) + part(3.5 * MiB),
  ],
  [
    'sends 7 MiB a byte now and then',
    AT_ONCE,
    () => `${head(EDIT, { ...as(eve), 'content-length': 7 * MiB })}{"x":"`,
    { drips: 'x' },
  ],
  ['announces nothing and sends nothing', AT_ONCE, () => head(EDIT, { ...as(eve), ...CHUNKED })],
  ['announces nothing and sends a part', AT_ONCE, () => head(EDIT, { ...as(eve), ...CHUNKED }) + chunk(2 * MiB)],
  ['sends no long feedback', 10, () => head(FEEDBACK, { ...as(eve), 'content-length': 20 * MiB })],
  [
    'sends no long files, with an API token',
    AT_ONCE,
    () => head(WRITE, { ...asToken(evesToken), 'content-length': 6 * MiB }),
  ],
  [
    'sends nothing, of three kinds and with two sessions',
    60,
    (n) =>
      head([EDIT, FEEDBACK, WRITE][n % 3]!, {
        ...as(eve),
        ...(n % 2 && asToken(otherSession)),
        'content-length': 6 * MiB,
      }),
  ],
  ['announces just what is large', 60, () => head(EDIT, { ...as(eve), 'content-length': MiB + 1 })],
];

/** All of them from the same address. Somebody new each time: each has a rate. */
async function anothersAreTaken(): Promise<void> {
  const ben = await app.signUp('Ben');
  expect(await promptly('another’s large profile', () => edit(ben, 6.9 * MiB))).toBe(200);
  expect(await promptly('another’s large feedback', () => feedback(ben, 9 * MiB))).toBe(200);
  expect(await promptly('another’s large file', () => write(ben, 6 * MiB))).toBe(404);
}

const answersOf = (wires: readonly Wire[]) => () => wires.filter((wire) => wire.status() !== null).length;

describe('large bodies of others are taken while one person', () => {
  it.each(ATTACKS)('%s', async (_, count, bytes, options) => {
    const wires = await times(count, (n) => openWire(portOf(app.url), bytes(n), options));
    onTestFinished(() => wires.forEach((wire) => void wire.close()));
    await comesToRest(answersOf(wires));
    await anothersAreTaken();
    const refused = new Set(wires.map((wire) => wire.status()).filter((status) => status !== null));
    expect([...refused].filter((status) => status !== 429)).toEqual([]);
  });
});

describe('who has a credential is served while strangers at the same address', () => {
  it.each<[what: string, headers: Headers]>([
    ['announce large bodies', { 'content-length': 7 * MiB }],
    ['do not announce them', CHUNKED],
    ['show a token that is none', { ...asToken('stg_1_nothing'), 'content-length': 7 * MiB }],
    ['show a changed access token', { authorization: 'Bearer eyJhbGciOiJFZERTQSJ9.e30.AAAA', ...CHUNKED }],
    ['show a token for what tokens may not do', { 'content-length': 7 * MiB }],
  ])('%s', async (what, headers) => {
    const credential = what.endsWith('may not do') ? asToken(evesToken) : {};
    const wires = await times(AT_ONCE, (n) =>
      openWire(portOf(app.url), head([EDIT, FEEDBACK][n % 2]!, { ...headers, ...credential })),
    );
    onTestFinished(() => wires.forEach((wire) => void wire.close()));
    await expect.poll(answersOf(wires)).toBe(AT_ONCE);
    expect(new Set(wires.map((wire) => wire.status()))).toEqual(new Set([401]));
    await anothersAreTaken();
  });
});

describe('alone on the platform', () => {
  it('one sends eight large bodies, at once or in turn', async () => {
    const ben = await app.signUp('Ben');
    expect(await times(8, () => edit(ben, 4 * MiB))).toEqual(Array.from({ length: 8 }, () => 200));
  });

  it('one sends 64 MiB in 10 s, and then waits', async () => {
    const dora = await app.signUp('Dora');
    expect(await times(9, () => edit(dora, 6.9 * MiB))).toEqual(Array.from({ length: 9 }, () => 200));
    expect(await edit(dora, 6.9 * MiB)).toBe(429);
    expect(await edit(dora, MiB / 32)).toBe(200);
  });

  it('one sends feedback with three pictures, which is more than a share', async () => {
    const carl = await app.signUp('Carl');
    expect(await feedback(carl, 20 * MiB)).toBe(200);
  });
});
