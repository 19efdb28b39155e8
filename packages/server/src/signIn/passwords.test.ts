import { hash } from '@node-rs/argon2';
import { api } from '@stagi/contract/api.ts';
import type { Reply } from '@stagi/contract/apiClient.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkOf } from '../http/network.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { markSteppedUp } from '../testing/factories.ts';
import { mailedCode, PASSWORD } from '../testing/person.ts';
import { storedMails } from '../testing/storedMails.ts';

const NEW_PASSWORD = 'Fresh-battery-42';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ TRUST_PROXY: '127.0.0.1' });
});
afterAll(() => app?.close());

let visitors = 0;
/** Headers with an IP address that no other test uses. */
const fromElsewhere = (): Record<string, string> => {
  visitors += 1;
  return { 'x-forwarded-for': `10.${visitors >> 16}.${(visitors >> 8) & 255}.${visitors & 255}` };
};

const askForCode = (email: string, headers = fromElsewhere()) =>
  app.post('auth/email/reset-password-code', { email }, headers);
const signInWith = (email: string, password: string, headers = fromElsewhere()) =>
  app.post('auth/email/authentication', { email, password }, headers);
const reset = (input: object, headers = fromElsewhere()) => app.post('auth/email/reset-password', input, headers);
const statusWith = async ({ body }: Reply): Promise<number> =>
  (await app.post('user/profile', {}, { authorization: `Bearer ${(body as { accessToken: string }).accessToken}` }))
    .status;
const flowOf = ({ body }: Reply) => (body as { flow: string }).flow;

const mailsTo = (email: string) => storedMails(app.ctx, email);

describe('a password reset', () => {
  it('sets the password with the mailed code, signs in, revokes every other session and notifies the owner', async () => {
    const person = await app.signUp();
    const before = person.tokens();
    const asked = await askForCode(person.email);
    expect(asked).toMatchObject({ status: 200, body: { isSuccess: true } });
    const code = await mailedCode(app.url, person.email);
    const done = await reset({ email: person.email, code, newPassword: NEW_PASSWORD, flow: flowOf(asked) });
    expect(done.status).toBe(200);
    expect(await statusWith(done)).toBe(200);
    expect((await app.post('user/profile', {}, { authorization: `Bearer ${before.accessToken}` })).status).toBe(401);
    expect((await app.post('auth/exchange-refresh-token', { refreshToken: before.refreshToken })).status).toBe(401);
    expect((await signInWith(person.email, PASSWORD)).status).toBe(400);
    expect((await signInWith(person.email, NEW_PASSWORD)).status).toBe(200);
    expect((await mailsTo(person.email)).map(({ subject }) => subject)).toContain('Your Stagi password was changed');
    const used = await reset({ email: person.email, code, newPassword: 'Third-battery-43', flow: flowOf(asked) });
    expect(used).toMatchObject({
      status: 400,
      body: { message: 'Incorrect or expired code', fieldsWithError: ['code'] },
    });
  });

  it('answers the same for an unknown address, and never signs anybody in with it', async () => {
    const person = await app.signUp();
    const email = `nobody-${Date.now()}@example.com`;
    const [known, unknown] = [await askForCode(person.email), await askForCode(email)];
    expect(Object.keys(unknown.body as object)).toEqual(Object.keys(known.body as object));
    expect(unknown.status).toBe(known.status);
    expect((await mailsTo(email))[0]?.subject).toBe('There is no Stagi account to recover with this address');
    const wrong = await reset({
      email: person.email,
      code: '12345678',
      newPassword: NEW_PASSWORD,
      flow: flowOf(known),
    });
    const nobody = await reset({ email, code: '12345678', newPassword: NEW_PASSWORD, flow: flowOf(unknown) });
    expect({ ...(nobody.body as object), requestId: '' }).toEqual({ ...(wrong.body as object), requestId: '' });
  });

  it('allows five tries in ten minutes, with its own flow only', async () => {
    const person = await app.signUp();
    const { email } = person;
    const asked = await askForCode(email);
    const code = await mailedCode(app.url, email);
    const wrong = code === '00000000' ? '00000001' : '00000000';
    for (let attempt = 0; attempt < 5; attempt += 1)
      expect((await reset({ email, code: wrong, newPassword: NEW_PASSWORD, flow: flowOf(asked) })).status).toBe(400);
    expect((await reset({ email, code, newPassword: NEW_PASSWORD, flow: flowOf(asked) })).status).toBe(400);

    const mine = await askForCode(email);
    const mailed = await mailedCode(app.url, email);
    const theirs = await askForCode(email);
    expect((await reset({ email, code: mailed, newPassword: NEW_PASSWORD, flow: flowOf(theirs) })).status).toBe(400);
    await sql`update password_reset set expires_at = now() - interval '1 second' where flow = ${flowOf(mine)}`.execute(
      app.ctx.db,
    );
    expect((await reset({ email, code: mailed, newPassword: NEW_PASSWORD, flow: flowOf(mine) })).status).toBe(400);
  });

  it('keeps the code when the new password is refused: weak, common, the same', async () => {
    const person = await app.signUp();
    const { email } = person;
    const asked = await askForCode(email);
    const code = await mailedCode(app.url, email);
    const refusals: [string, string][] = [
      ['short', 'Password must be at least 8 characters with digits and upper and lower case letters'],
      ['Password1', 'This password is too common. Choose another one.'],
      [PASSWORD, 'A new password must differ from the current one'],
    ];
    for (const [newPassword, message] of refusals) {
      const refused = await reset({ email, code, newPassword, flow: flowOf(asked) });
      expect(refused).toMatchObject({ status: 400, body: { message, fieldsWithError: ['newPassword'] } });
    }
    expect((await reset({ email, code, newPassword: NEW_PASSWORD, flow: flowOf(asked) })).status).toBe(200);
  });

  it('mails one code a minute per caller, and requests of strangers do not lock the owner out', async () => {
    const person = await app.signUp();
    const stranger = fromElsewhere();
    expect((await askForCode(person.email, stranger)).status).toBe(200);
    const early = await askForCode(person.email, stranger);
    expect(early.status).toBe(429);
    expect(early.retryAfter).toBeGreaterThan(50);
    const device = cookieOf(await rawSignIn(person.email, PASSWORD));
    for (let asked = 0; asked < 9; asked += 1) await askForCode(person.email);
    expect((await askForCode(person.email)).status).toBe(429);
    expect((await askForCode(person.email, { ...fromElsewhere(), cookie: device })).status).toBe(200);
  });
});

describe('changing the password', () => {
  it('needs the current one and revokes all sessions but this one', async () => {
    const person = await app.signUp();
    const other = await signInWith(person.email, PASSWORD);
    const change = (currentPassword: string, newPassword: string) =>
      person.client(api.auth.changePassword, { currentPassword, newPassword });
    expect(await refusal(change('Wrong-guess-1', NEW_PASSWORD))).toMatchObject({
      message: 'Incorrect password',
      fieldsWithError: ['currentPassword'],
    });
    expect(await refusal(change(PASSWORD, PASSWORD))).toMatchObject({
      message: 'A new password must differ from the current one',
      fieldsWithError: ['newPassword'],
    });
    expect(await refusal(change(PASSWORD, 'Qwerty123'))).toMatchObject({ fieldsWithError: ['newPassword'] });
    await change(PASSWORD, NEW_PASSWORD);
    expect(await statusWith(other)).toBe(401);
    expect((await person.client(api.user.profile, {})).userProfile.isPasswordExist).toBe(true);
    expect((await signInWith(person.email, NEW_PASSWORD)).status).toBe(200);
  });

  it('rate limits guesses of the current one', async () => {
    const person = await app.signUp();
    const guess = () =>
      person.client(api.auth.changePassword, { currentPassword: 'Wrong-guess-1', newPassword: NEW_PASSWORD });
    for (let tries = 0; tries < 5; tries += 1) await refusal(guess());
    await expect(guess()).rejects.toMatchObject({ status: 429 });
  });

  it('adds a first password only where there is none', async () => {
    const person = await app.signUp();
    expect(await refusal(person.client(api.user.addPassword, { password: NEW_PASSWORD }))).toMatchObject({
      code: 'step-up',
    });
    await markSteppedUp(app.ctx, person);
    expect(await refusal(person.client(api.user.addPassword, { password: NEW_PASSWORD }))).toMatchObject({
      message: 'Your account already has a password',
    });
    await app.ctx.db.updateTable('app_user').set({ password_hash: null }).where('id', '=', person.userId).execute();
    expect((await person.client(api.user.profile, {})).userProfile.isPasswordExist).toBe(false);
    expect(
      await refusal(person.client(api.auth.changePassword, { currentPassword: 'x', newPassword: NEW_PASSWORD })),
    ).toMatchObject({ message: 'Your account has no password yet' });
    const both = await Promise.allSettled([
      person.client(api.user.addPassword, { password: NEW_PASSWORD }),
      person.client(api.user.addPassword, { password: 'Other-battery-44' }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect((await person.client(api.user.profile, {})).userProfile.isPasswordExist).toBe(true);
    expect((await mailsTo(person.email))[0]?.subject).toBe('A password was added to your Stagi account');
  });

  it.each(['Password1', 'PASSWORd123', 'Qwerty123!', 'Stagi2026', 'Iloveyou1'])(
    'refuses %s, which anybody guesses',
    async (password) => {
      const refused = await app.post(
        'auth/email/register',
        { name: 'C', email: `common-${visitors}@example.com`, password },
        fromElsewhere(),
      );
      expect(refused).toMatchObject({ status: 400, body: { fieldsWithError: ['password'] } });
    },
  );
});

describe('rate limits', () => {
  it('back off guesses exponentially, and never lock the owner out of a known browser', async () => {
    const person = await app.signUp();
    const device = cookieOf(await rawSignIn(person.email, PASSWORD));
    for (let guess = 0; guess < 5; guess += 1)
      expect((await signInWith(person.email, `Guess-number-${guess}`)).status).toBe(400);
    const waits: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const late = await signInWith(person.email, PASSWORD);
      expect(late.status).toBe(429);
      waits.push(late.retryAfter ?? 0);
      await sql`update attempt set next_at = now()`.execute(app.ctx.db);
      expect((await signInWith(person.email, `Guess-again-${round}`)).status).toBe(400);
    }
    expect(waits.slice(0, 3).map((wait) => Math.ceil(wait / 15) * 15)).toEqual([15, 30, 60]);
    expect(Math.max(...waits)).toBeGreaterThan(850);
    expect(Math.max(...waits)).toBeLessThanOrEqual(900);
    expect((await signInWith(person.email, PASSWORD, { ...fromElsewhere(), cookie: device })).status).toBe(200);
    expect((await signInWith(person.email, PASSWORD)).status).toBe(429);
  });

  it('count parallel guesses one by one', async () => {
    const person = await app.signUp();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, guess) => signInWith(person.email, `Guess-number-${guess}`)),
    );
    expect(replies.filter(({ status }) => status === 400)).toHaveLength(5);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  it('apply to unknown addresses too', async () => {
    const email = `nobody-${Date.now()}@example.com`;
    for (let guess = 0; guess < 5; guess += 1) expect((await signInWith(email, 'Guess-number-1')).status).toBe(400);
    expect((await signInWith(email, 'Guess-number-1')).status).toBe(429);
  });

  it('allow 20 sign-in calls a minute per IP address, and ignore a forged X-Forwarded-For', async () => {
    const strict = await startTestApp({ TRUST_PROXY: '127.0.0.1', SIGN_INS_PER_MINUTE: '20' });
    try {
      // Each login page that is opened asks for a passkey challenge: it does not count as a sign-in call.
      for (let page = 0; page < 21; page += 1) {
        const headers = { 'x-forwarded-for': '192.0.2.1' };
        expect((await strict.post('auth/passkey/options', {}, headers)).status).toBe(200);
      }
      const replies = [];
      for (let visit = 0; visit < 21; visit += 1) {
        // Behind one trusted proxy only the last address is the proxy's own.
        const headers = { 'x-forwarded-for': `203.0.113.${visit}, 192.0.2.1` };
        replies.push(
          await strict.post('auth/email/verify-code', { email: 'a@example.com', code: '12345678' }, headers),
        );
      }
      expect(replies.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 400), 429]);
      expect(replies.at(-1)?.retryAfter).toBeGreaterThan(0);
    } finally {
      await strict.close();
    }
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:DB8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('take %s for the network %s', (ip, network) => {
    expect(networkOf(ip)).toBe(network);
  });
});

describe('a new device', () => {
  it('is mailed to the owner in their language; a known one is not', async () => {
    const person = await app.signUp();
    await person.client(api.user.edit, { language: 'tr' });
    const first = await rawSignIn(person.email, PASSWORD);
    const told = await mailsTo(person.email);
    expect(told[0]?.subject).toBe('Stagi hesabınıza yeni giriş');
    expect(told[0]?.text).toContain('Firefox');
    await rawSignIn(person.email, PASSWORD, cookieOf(first));
    expect(await mailsTo(person.email)).toHaveLength(told.length);
    expect(first.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict/);
  });
});

async function rawSignIn(email: string, password: string, cookie = ''): Promise<Response> {
  const response = await fetch(`${app.url}/frontend-api/auth/email/authentication`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      ...fromElsewhere(),
      cookie,
    },
    body: JSON.stringify({ email, password }),
  });
  expect(response.status).toBe(200);
  return response;
}

const cookieOf = (response: Response): string => response.headers.get('set-cookie')?.split(';')[0] ?? '';

async function refusal(work: Promise<unknown>): Promise<CallError['body']> {
  const error = await work.then(
    () => expect.unreachable('the call should have failed'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CallError)) throw error;
  return error.body;
}

describe('a hash of older parameters', () => {
  it('is replaced at the next sign-in, and no other is', async () => {
    const person = await app.signUp();
    const stored = async () =>
      (await app.ctx.db.selectFrom('app_user').select('password_hash').where('id', '=', person.userId).execute())[0]
        ?.password_hash ?? '';
    const older = await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    await app.ctx.db.updateTable('app_user').set({ password_hash: older }).where('id', '=', person.userId).execute();
    expect((await signInWith(person.email, 'Wrong-guess-1')).status).toBe(400);
    expect(await stored()).toBe(older);
    expect((await signInWith(person.email, PASSWORD)).status).toBe(200);
    const renewed = await stored();
    expect(renewed).toContain('$m=65536,t=3,p=1$');
    expect((await signInWith(person.email, PASSWORD)).status).toBe(200);
    expect(await stored()).toBe(renewed);
  });
});
