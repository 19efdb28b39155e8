import { randomUUID } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { createClient } from '@stagi/contract/apiClient.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { httpSender, mailedCode, PASSWORD, type Person, signUp } from '../testing/person.ts';
import { type Platform, spawnPlatform } from '../testing/platform.ts';

const CANARY = 'canary-b83d1e';
const PATIENCE = { timeout: 10_000, interval: 20 };

let platform: Platform;
let ada: Person;
let bob: Person;

beforeAll(async () => {
  platform = await spawnPlatform({ LOG_LEVEL: 'info', LOG_FORMAT: 'json' });
  const send = httpSender(platform.url);
  ada = await signUp(platform.url, send, { name: 'Ada', email: 'ada@example.com' });
  bob = await signUp(platform.url, send, { name: 'Bob', email: 'bob@example.com' });
});
afterAll(() => platform?.remove());

interface Line {
  msg: string;
  at?: string;
  reason?: string;
  userId?: number | null;
  ip?: string;
}

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

/** The lines that `act` adds to the log, once there are as many as are expected. */
async function linesAfter(n: number, act: () => Promise<unknown>): Promise<Line[]> {
  const before = platform.log().length;
  await act();
  await expect.poll(() => linesOf(platform.log().slice(before)).length, PATIENCE).toBeGreaterThanOrEqual(n);
  return linesOf(platform.log().slice(before));
}

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${platform.url}${API_PREFIX}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const as = ({ tokens }: Person) => ({ authorization: `Bearer ${tokens().accessToken}` });

it('logs who signed in, and by which factor', async () => {
  const lines = await linesAfter(1, () => post(api.auth.authentication.path, { email: ada.email, password: PASSWORD }));
  expect(lines).toEqual([
    expect.objectContaining({ msg: 'signed in', userId: ada.userId, ip: '127.0.0.1', authType: 'email' }),
  ]);
});

it('logs who was refused, where and why, without what they sent', async () => {
  const stranger = createClient({
    send: httpSender(platform.url),
    session: { get: () => null, set: () => {} },
    clientId: () => null,
  });
  await ada.client(api.secondFactor.stepUpBegin, {});
  const proof = { code: await mailedCode(platform.url, ada.email) };
  const [proved] = await linesAfter(1, () => ada.client(api.secondFactor.stepUp, proof));
  expect(proved).toMatchObject({ msg: 'step-up', userId: ada.userId, by: 'mailed' });
  const { token } = await ada.client(api.apiTokens.create, { description: 'for a test' });
  const SIGN_IN = API_PREFIX + api.auth.authentication.path;
  const refused: [what: string, expected: Partial<Line>, act: () => Promise<unknown>][] = [
    [
      'a wrong password',
      { at: SIGN_IN, userId: ada.userId, reason: 'Incorrect email or password' },
      () => post(api.auth.authentication.path, { email: ada.email, password: CANARY }),
    ],
    [
      'an unknown address',
      { at: SIGN_IN, userId: null, reason: 'Incorrect email or password' },
      () => post(api.auth.authentication.path, { email: `${CANARY}@example.com`, password: CANARY }),
    ],
    [
      'a wrong code of a recovery',
      { at: API_PREFIX + api.auth.resetPassword.path, userId: ada.userId },
      async () => {
        const { flow } = await stranger(api.auth.resetPasswordCode, { email: ada.email });
        return post(api.auth.resetPassword.path, {
          email: ada.email,
          code: '00000000',
          newPassword: `${CANARY}-A1`,
          flow,
        });
      },
    ],
    [
      'a wrong code of a step-up',
      { at: API_PREFIX + api.secondFactor.stepUp.path, userId: ada.userId },
      async () => {
        await ada.client(api.secondFactor.stepUpBegin, {});
        return post(api.secondFactor.stepUp.path, { code: '00000000' }, as(ada));
      },
    ],
    [
      'a token for a call of sessions',
      { at: API_PREFIX + api.sessions.list.path, userId: ada.userId },
      () => post(api.sessions.list.path, {}, { authorization: `Bearer ${token}` }),
    ],
    [
      'a forged token',
      { at: API_PREFIX + api.user.profile.path, userId: null, reason: 'Please log in' },
      () => post(api.user.profile.path, {}, { authorization: `Bearer ${CANARY}` }),
    ],
    [
      'somebody else’s workspace',
      { userId: bob.userId, reason: 'This workspace cannot be found' },
      () => post(api.storages.list.path, {}, { ...as(bob), 'x-client-id': String(ada.workspaceId) }),
    ],
    [
      'input that is none',
      { userId: ada.userId, reason: 'the input is not valid' },
      () => post(api.sessions.list.path, { entityFilterRequest: { limit: CANARY } }, as(ada)),
    ],
    [
      'an app that is not known',
      { at: '/oauth/token', userId: null },
      () =>
        fetch(`${platform.url}/oauth/token`, {
          method: 'POST',
          body: new URLSearchParams({ client_id: CANARY, grant_type: 'refresh_token', refresh_token: CANARY }),
        }),
    ],
    [
      'a wrong password of git',
      { at: expect.stringContaining('git') as never, userId: null },
      () =>
        fetch(`${platform.url}/git/${ada.workspaceId}/none.git/info/refs?service=git-upload-pack`, {
          headers: { authorization: `Basic ${btoa(`x:${CANARY}`)}` },
        }),
    ],
    ['S3 without a signature', { at: 's3', reason: 'AccessDenied' }, () => fetch(`${platform.s3Url}/${CANARY}/key`)],
  ];
  for (const [what, expected, act] of refused) {
    const lines = await linesAfter(1, act);
    expect(lines.at(-1), what).toMatchObject({ msg: 'refused', ip: '127.0.0.1', ...expected });
  }
  expect(platform.log()).not.toContain(CANARY);
  expect(platform.log()).not.toMatch(/example\.com|00000000/);
  console.log(`refusals: n = ${refused.length}, each one logged`);
});

it('logs nobody who may, and the flood of one network in part', async () => {
  const quiet = platform.log().length;
  expect((await post(api.sessions.list.path, {}, as(ada))).status).toBe(200);
  expect((await fetch(`${platform.url}/git/${randomUUID()}`)).status).toBeGreaterThanOrEqual(400);
  for (let n = 0; n < 90; n += 1) await post(api.user.profile.path, {});
  const lines = () => linesOf(platform.log().slice(quiet)).filter(({ msg }) => msg === 'refused');
  await expect.poll(lines, PATIENCE).toContainEqual(expect.objectContaining({ othersOfThisMinuteLeftOut: true }));
  expect(lines().length).toBeLessThanOrEqual(60);
  expect(lines().map(({ at }) => at)).not.toContain(API_PREFIX + api.sessions.list.path);
});
