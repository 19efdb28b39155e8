import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import { Secret } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { markSteppedUp } from '../testing/factories.ts';
import { mailedCode, PASSWORD, type Person } from '../testing/person.ts';
import { addRecoveryCodes } from '../testing/recoveryCodes.ts';
import { storedSubjects } from '../testing/storedMails.ts';
import { totpCode } from '../testing/totpCode.ts';
import { timeStepOf } from './totp.ts';

const STEP_MS = 30_000;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ TRUST_PROXY: '127.0.0.1' });
});
afterAll(() => app?.close());
beforeEach(() => app.ctx.db.deleteFrom('attempt').execute());

const refusal = (work: Promise<unknown>): Promise<{ status: number; message: string }> =>
  work.then(
    () => expect.unreachable('should have been refused'),
    (error: unknown) => {
      if (!(error instanceof CallError)) throw error;
      return { status: error.status, message: error.message };
    },
  );
const WRONG = { status: 400, message: 'Incorrect or expired code' };
const TOO_LATE = { status: 200, message: 'This login has expired. Log in again.' };

interface PersonWithTotp {
  person: Person;
  secret: string;
  recoveryCodes: string[];
  /** A code that has not been used: each one is of a later time step, as far as the clock may be off. */
  fresh(): Promise<string>;
}

/** A user with an authenticator app and recovery codes of their own, or without codes. */
async function personWithTotp({ hasCodes = true } = {}): Promise<PersonWithTotp> {
  const person = await app.signUp('Prue');
  await markSteppedUp(app.ctx, person);
  const before = hasCodes ? await addRecoveryCodes(app.ctx, person) : [];
  const { secret } = await person.client(api.secondFactor.totpBegin, {});
  const { recoveryCodes } = await person.client(api.secondFactor.totpConfirm, { code: totpCode(secret, Date.now()) });
  return {
    person,
    secret,
    recoveryCodes: recoveryCodes ?? before,
    async fresh() {
      // As if the codes before had been used a while ago: the test need not wait for the next.
      await app.ctx.db.updateTable('totp').set({ last_step: 0n }).where('user_id', '=', person.userId).execute();
      return totpCode(secret, Date.now());
    },
  };
}

async function ticketFor(person: Person): Promise<string> {
  const answer = await app.anonymous(api.auth.authentication, { email: person.email, password: PASSWORD });
  if (!('secondFactor' in answer)) return expect.unreachable('a second factor should have been asked for');
  return answer.secondFactor.ticket;
}

const sessionsOf = async ({ userId }: Person): Promise<number> =>
  (await app.ctx.db.selectFrom('session').select('id').where('user_id', '=', userId).execute()).length;

const subjectsTo = ({ email }: Person) => storedSubjects(app.ctx, email);

describe('an authenticator app', () => {
  it('is set up after a step-up with one of its codes, comes with ten recovery codes, and its owner is notified', async () => {
    const person = await app.signUp();
    expect(await refusal(person.client(api.secondFactor.totpBegin, {}))).toMatchObject({ status: 403 });
    await markSteppedUp(app.ctx, person);
    const { secret, uri } = await person.client(api.secondFactor.totpBegin, {});
    expect(uri).toContain(`secret=${secret}`);
    expect(await refusal(person.client(api.secondFactor.totpConfirm, { code: '12345' }))).toEqual(WRONG);
    // Until then nothing is asked for.
    expect(await app.anonymous(api.auth.authentication, { email: person.email, password: PASSWORD })).toHaveProperty(
      'accessToken',
    );
    const { recoveryCodes } = await person.client(api.secondFactor.totpConfirm, {
      code: totpCode(secret, Date.now()),
    });
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(await person.client(api.secondFactor.view, {})).toMatchObject({ recoveryCodesLeft: 10, passkeys: 0 });
    expect(await subjectsTo(person)).toContain('An authenticator app was added to your Stagi account');
    const { rows } = await sql<{
      all: string;
    }>`select t::text as all from totp t where user_id = ${person.userId}`.execute(app.ctx.db);
    expect(rows[0]?.all).not.toContain(secret);
  });

  it('is required after the password; the session begins stepped up', async () => {
    const { person, fresh } = await personWithTotp();
    const before = await sessionsOf(person);
    const ticket = await ticketFor(person);
    expect(await sessionsOf(person)).toBe(before);
    const code = await fresh();
    const tokens = await app.anonymous(api.secondFactor.verify, {
      ticket,
      code: `${code.slice(0, 3)} ${code.slice(3)}`,
    });
    const headers = { authorization: `Bearer ${tokens.accessToken}` };
    expect((await app.post(api.secondFactor.recoveryCodes.path, {}, headers)).status).toBe(200);
    expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket, code: await fresh() }))).toEqual(TOO_LATE);
  });

  it('accepts a code once, and no earlier one after it, also in parallel', async () => {
    const { person, secret } = await personWithTotp();
    const tickets = [
      await ticketFor(person),
      await ticketFor(person),
      await ticketFor(person),
      await ticketFor(person),
    ];
    // The one that set it up is spent too, whichever of the two it was.
    await app.ctx.db.updateTable('totp').set({ last_step: 0n }).where('user_id', '=', person.userId).execute();
    const used = totpCode(secret, Date.now());
    const outcomes = await Promise.allSettled(
      tickets.map((ticket) => app.anonymous(api.secondFactor.verify, { ticket, code: used })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const ticket = await ticketFor(person);
    for (const code of [used, totpCode(secret, Date.now() - STEP_MS)])
      expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket, code }))).toEqual(WRONG);
  });

  it('may be 30 seconds ahead or behind, not more', async () => {
    const secret = new Secret({ size: 20 }).base32;
    const now = 1_800_000_015_000;
    const offsets = [-3, -2, -1, 0, 1, 2, 3];
    const taken = offsets.filter((steps) => timeStepOf(secret, totpCode(secret, now + steps * STEP_MS), now) !== null);
    expect(taken).toEqual([-1, 0, 1]);
    for (const junk of ['', '12345', '1234567', '١٢٣٤٥٦', '12345a']) expect(timeStepOf(secret, junk, now)).toBeNull();

    const { person, secret: own } = await personWithTotp();
    await app.ctx.db.updateTable('totp').set({ last_step: 0n }).where('user_id', '=', person.userId).execute();
    const ticket = await ticketFor(person);
    for (const off of [-3, 3]) {
      const code = totpCode(own, Date.now() + off * STEP_MS);
      expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket, code }))).toEqual(WRONG);
    }
    const ahead = totpCode(own, Date.now() + STEP_MS);
    expect(await app.anonymous(api.secondFactor.verify, { ticket, code: ahead })).toHaveProperty('accessToken');
  });

  it('is required after a password reset too', async () => {
    const { person, fresh } = await personWithTotp();
    const { flow } = await app.anonymous(api.auth.resetPasswordCode, { email: person.email });
    const answer = await app.anonymous(api.auth.resetPassword, {
      email: person.email,
      code: await mailedCode(app.url, person.email),
      newPassword: 'Fresh-battery-42',
      flow,
    });
    if (!('secondFactor' in answer)) return expect.unreachable('a second factor should have been asked for');
    expect(answer.secondFactor.methods).toEqual(['totp', 'recovery-code']);
    const { ticket } = answer.secondFactor;
    expect(await app.anonymous(api.secondFactor.verify, { ticket, code: await fresh() })).toHaveProperty('accessToken');
  });

  it('is removed with its recovery codes, after a step-up with the factor itself', async () => {
    const { person, fresh } = await personWithTotp();
    await sql`update session set stepped_up_at = null where user_id = ${person.userId}`.execute(app.ctx.db);
    expect(await refusal(person.client(api.secondFactor.totpRemove, {}))).toMatchObject({ status: 403 });
    const begun = await person.client(api.secondFactor.stepUpBegin, {});
    expect(begun).toMatchObject({ methods: ['totp', 'recovery-code'], mailed: null });
    await person.client(api.secondFactor.stepUp, { code: await fresh() });
    await person.client(api.secondFactor.totpRemove, {});
    expect(await person.client(api.secondFactor.view, {})).toMatchObject({ totpSince: null, recoveryCodesLeft: 0 });
    expect(await subjectsTo(person)).toContain('The authenticator app was removed from your Stagi account');
    expect(await app.anonymous(api.auth.authentication, { email: person.email, password: PASSWORD })).toHaveProperty(
      'accessToken',
    );
  });
});

describe('a recovery code', () => {
  it('signs in once, typed in any letter case, and its owner is notified', async () => {
    const { person, recoveryCodes } = await personWithTotp();
    const [code = '', other = ''] = recoveryCodes;
    const typed = code.toUpperCase().replace('-', ' ');
    const tickets = [await ticketFor(person), await ticketFor(person), await ticketFor(person)];
    const outcomes = await Promise.allSettled(
      tickets.map((ticket) => app.anonymous(api.secondFactor.verify, { ticket, code: typed })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const ticket = await ticketFor(person);
    expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket, code }))).toEqual(WRONG);
    expect(await app.anonymous(api.secondFactor.verify, { ticket, code: other })).toHaveProperty('accessToken');
    expect(await person.client(api.secondFactor.view, {})).toMatchObject({ recoveryCodesLeft: 8 });
    expect(await subjectsTo(person)).toContain('A recovery code of your Stagi account was used');
  });

  it('is void once new ones are created', async () => {
    const { person, recoveryCodes } = await personWithTotp();
    await markSteppedUp(app.ctx, person);
    const made = await person.client(api.secondFactor.recoveryCodes, {});
    expect(made.recoveryCodes).toHaveLength(10);
    const ticket = await ticketFor(person);
    const old = recoveryCodes[0] ?? '';
    expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket, code: old }))).toEqual(WRONG);
    const next = made.recoveryCodes[0] ?? '';
    expect(await app.anonymous(api.secondFactor.verify, { ticket, code: next })).toHaveProperty('accessToken');
  });

  it('is not created for a user without a second factor', async () => {
    const person = await app.signUp();
    await markSteppedUp(app.ctx, person);
    expect(await refusal(person.client(api.secondFactor.recoveryCodes, {}))).toEqual({
      status: 200,
      message: 'Set up a second factor first',
    });
  });
});

describe('the ticket of a login', () => {
  it('is valid only with a factor of its own user', async () => {
    const [victim, thief] = [await personWithTotp(), await personWithTotp({ hasCodes: false })];
    const ticket = await ticketFor(victim.person);
    expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket, code: await thief.fresh() }))).toEqual(WRONG);
    const stolen = thief.recoveryCodes[0] ?? '';
    expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket, code: stolen }))).toEqual(WRONG);
    expect(await thief.person.client(api.secondFactor.view, {})).toMatchObject({ recoveryCodesLeft: 10 });
  });

  it('expires after ten minutes, with a new password and when the account is disabled', async () => {
    const ends: [string, (person: Person) => Promise<unknown>][] = [
      [
        'time',
        ({ userId }) =>
          sql`update second_factor_ticket set expires_at = now() where user_id = ${userId}`.execute(app.ctx.db),
      ],
      [
        'password',
        (person) =>
          person.client(api.auth.changePassword, { currentPassword: PASSWORD, newPassword: 'Fresh-battery-42' }),
      ],
      [
        'disabled',
        ({ userId }) => sql`update app_user set disabled_at = now() where id = ${userId}`.execute(app.ctx.db),
      ],
    ];
    for (const [name, end] of ends) {
      const { person, fresh } = await personWithTotp();
      const ticket = await ticketFor(person);
      await end(person);
      expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket, code: await fresh() })), name).toEqual(
        TOO_LATE,
      );
    }
    expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket: 'x', code: '123456' }))).toEqual(TOO_LATE);
  });

  it('warns the owner, once an hour, of wrong second factors after a right password', async () => {
    const { person } = await personWithTotp();
    await person.client(api.user.edit, { language: 'tr' });
    const warnings = async () =>
      (await subjectsTo(person)).filter((subject) => subject === 'Biri Stagi hesabınıza giriş yapmaya çalışıyor')
        .length;
    const ticket = await ticketFor(person);
    const guess = async (times: number): Promise<number> => {
      for (let time = 0; time < times; time += 1)
        expect(await refusal(app.anonymous(api.secondFactor.verify, { ticket, code: '12345' }))).toEqual(WRONG);
      return warnings();
    };
    expect(await guess(2)).toBe(0);
    expect(await guess(1)).toBe(1);
    expect(await guess(2)).toBe(1);
    await sql`update attempt set next_at = next_at - interval '59 minutes'`.execute(app.ctx.db);
    expect(await guess(1)).toBe(1);
    await sql`update attempt set next_at = next_at - interval '2 minutes'`.execute(app.ctx.db);
    expect(await guess(1)).toBe(2);

    // No warning after a typing error that is followed by a success.
    const { person: other, fresh: code } = await personWithTotp();
    const theirs = await ticketFor(other);
    for (let time = 0; time < 2; time += 1)
      await refusal(app.anonymous(api.secondFactor.verify, { ticket: theirs, code: '12345' }));
    await app.anonymous(api.secondFactor.verify, { ticket: theirs, code: await code() });
    const next = await ticketFor(other);
    await refusal(app.anonymous(api.secondFactor.verify, { ticket: next, code: '12345' }));
    expect((await subjectsTo(other)).filter((subject) => subject.includes('trying to log in'))).toEqual([]);
  });

  it('rate limits guesses, but never the owner in a known browser', async () => {
    const { person, fresh } = await personWithTotp();
    const GUESS_BACKOFF = 40;
    const tickets: string[] = [];
    for (let guess = 0; guess < GUESS_BACKOFF; guess += 1) {
      // An attacker who knows the password gets any number of tickets.
      if (guess % 10 === 0)
        await app.ctx.db
          .deleteFrom('attempt')
          .where(sql<boolean>`key = sha256(${`sign-in|${person.email}`}::text::bytea)`)
          .execute();
      tickets.push(await ticketFor(person));
    }
    // All at once, so that none comes when the wait of the fifth is over.
    const answers = await Promise.all(
      tickets.map((ticket, guess) =>
        refusal(app.anonymous(api.secondFactor.verify, { ticket, code: String(guess).padStart(6, '0') })),
      ),
    );
    const looked = answers.filter(({ status }) => status === 400).length;
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(GUESS_BACKOFF - looked);
    console.log(`guesses of a second factor: n = ${GUESS_BACKOFF} at once, looked at ${looked}`);
    expect(looked).toBe(5);

    const device = await cookieOf(person, fresh);
    await refusal(app.anonymous(api.secondFactor.verify, { ticket: await ticketFor(person), code: '000000' }));
    const ticket = await ticketFor(person);
    const reply = await app.post(api.secondFactor.verify.path, { ticket, code: await fresh() }, { cookie: device });
    expect(reply.status).toBe(200);
  });

  /** The known-browser cookie that a sign-in sets. */
  async function cookieOf(person: Person, fresh: () => Promise<string>): Promise<string> {
    await app.ctx.db.deleteFrom('attempt').execute();
    const ticket = await ticketFor(person);
    const response = await fetch(`${app.url}/frontend-api/${api.secondFactor.verify.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ticket, code: await fresh() }),
    });
    const cookie = response.headers.get('set-cookie')?.split(';')[0];
    if (!cookie) return expect.unreachable('the browser should have been remembered');
    for (let guess = 0; guess < 5; guess += 1)
      await refusal(app.anonymous(api.secondFactor.verify, { ticket: await ticketFor(person), code: '000000' }));
    return cookie;
  }
});

describe('a step-up by mail', () => {
  it('is for users without a second factor, bound to its session, and valid for ten minutes', async () => {
    const person = await app.signUp();
    const begun = await person.client(api.secondFactor.stepUpBegin, {});
    expect(begun).toMatchObject({ methods: [], mailed: { to: person.email, nextInSeconds: 60 } });
    const code = await mailedCode(app.url, person.email);
    // ChallengePurpose again, the code that is under way still counts and no other is mailed.
    await person.client(api.secondFactor.stepUpBegin, {});
    expect(await mailedCode(app.url, person.email)).toBe(code);
    expect(await refusal(person.client(api.secondFactor.stepUpBegin, { newCode: true }))).toMatchObject({
      status: 429,
    });

    const other = await app.anonymous(api.auth.authentication, { email: person.email, password: PASSWORD });
    if (!('accessToken' in other)) return expect.unreachable('no second factor is set');
    const inOther = { authorization: `Bearer ${other.accessToken}` };
    expect((await app.post(api.secondFactor.stepUp.path, { code }, inOther)).status).toBe(400);

    await person.client(api.secondFactor.stepUp, { code });
    await person.client(api.secondFactor.totpBegin, {});
    expect((await app.post(api.secondFactor.totpBegin.path, {}, inOther)).status).toBe(403);
    expect(await refusal(person.client(api.secondFactor.stepUp, { code }))).toEqual(WRONG);

    await sql`update session set stepped_up_at = stepped_up_at - interval '10 minutes' where user_id = ${person.userId}`.execute(
      app.ctx.db,
    );
    expect(await refusal(person.client(api.secondFactor.totpBegin, {}))).toMatchObject({ status: 403 });
  });

  it('allows five tries, and none after ten minutes', async () => {
    const person = await app.signUp();
    await person.client(api.secondFactor.stepUpBegin, {});
    const code = await mailedCode(app.url, person.email);
    const wrong = code === '00000000' ? '00000001' : '00000000';
    for (let guess = 0; guess < 5; guess += 1) {
      await app.ctx.db.deleteFrom('attempt').execute();
      expect(await refusal(person.client(api.secondFactor.stepUp, { code: wrong }))).toEqual(WRONG);
    }
    await app.ctx.db.deleteFrom('attempt').execute();
    expect(await refusal(person.client(api.secondFactor.stepUp, { code }))).toEqual(WRONG);

    await person.client(api.secondFactor.stepUpBegin, {});
    const next = await mailedCode(app.url, person.email);
    expect(next).not.toBe(code);
    await sql`update step_up_code set expires_at = now()`.execute(app.ctx.db);
    expect(await refusal(person.client(api.secondFactor.stepUp, { code: next }))).toEqual(WRONG);
  });

  it('is refused for a user with a second factor', async () => {
    const person = await app.signUp();
    await person.client(api.secondFactor.stepUpBegin, {});
    const code = await mailedCode(app.url, person.email);
    await markSteppedUp(app.ctx, person);
    const { secret } = await person.client(api.secondFactor.totpBegin, {});
    await person.client(api.secondFactor.totpConfirm, { code: totpCode(secret, Date.now()) });
    expect(await refusal(person.client(api.secondFactor.stepUp, { code }))).toEqual(WRONG);
  });
});
