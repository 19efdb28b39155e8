import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { PasskeyAssertion, PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { markSteppedUp } from '../testing/factories.ts';
import { PASSWORD, type Person } from '../testing/person.ts';
import { addRecoveryCodes } from '../testing/recoveryCodes.ts';
import { type VirtualAuthenticator, virtualAuthenticator } from '../testing/virtualAuthenticator.ts';

let app: TestApp;
let origin: string;
beforeAll(async () => {
  app = await startTestApp();
  origin = app.ctx.config.appOrigin;
});
afterAll(() => app?.close());
beforeEach(() => app.ctx.db.deleteFrom('attempt').execute());

const statusOf = (work: Promise<unknown>): Promise<number> =>
  work.then(
    () => 200,
    (error: unknown) => {
      if (!(error instanceof CallError)) throw error;
      return error.status === 200 ? 0 : error.status;
    },
  );

/** Somebody with a passkey; recovery codes come along with it unless they have some. */
async function personWithPasskey({ hasCodes = true } = {}): Promise<{
  person: Person;
  passkey: VirtualAuthenticator;
  recoveryCodes: string[] | null;
}> {
  const person = await app.signUp('Petra');
  await markSteppedUp(app.ctx, person);
  if (hasCodes) await addRecoveryCodes(app.ctx, person);
  const passkey = virtualAuthenticator(origin);
  const { options } = await person.client(api.secondFactor.passkeyAddOptions, {});
  const { recoveryCodes } = await person.client(api.secondFactor.passkeyAdd, {
    name: 'Laptop',
    attestation: passkey.create(options),
  });
  return { person, passkey, recoveryCodes };
}

const askToLogIn = async (): Promise<PasskeyRequest> =>
  (await app.anonymous(api.secondFactor.passkeyOptions, {})).options;
const logIn = (assertion: PasskeyAssertion) => app.anonymous(api.secondFactor.passkeyVerify, { assertion });

describe('a passkey', () => {
  it('is added after a step-up, listed, renamed and removed', async () => {
    const { person, recoveryCodes } = await personWithPasskey({ hasCodes: false });
    expect(recoveryCodes).toHaveLength(10);
    const { entities } = await person.client(api.secondFactor.passkeyList, {});
    expect(entities).toEqual([expect.objectContaining({ name: 'Laptop', synced: false, lastUsedAt: null })]);
    const id = entities[0]?.id ?? 0;
    await person.client(api.secondFactor.passkeyEdit, { id, name: 'Old laptop' });
    expect((await person.client(api.secondFactor.passkeyList, {})).entities[0]?.name).toBe('Old laptop');
    await person.client(api.secondFactor.passkeyRemove, { id });
    expect(await person.client(api.secondFactor.view, {})).toMatchObject({ passkeys: 0, recoveryCodesLeft: 0 });
  });

  it('signs in alone, without address or password, and shows its last use', async () => {
    const { person, passkey } = await personWithPasskey();
    const options = await askToLogIn();
    expect(options).toMatchObject({ userVerification: 'required', allowCredentials: [] });
    const tokens = await logIn(passkey.answer(options));
    const reply = await app.post('user/profile', {}, { authorization: `Bearer ${tokens.accessToken}` });
    expect(reply.body).toMatchObject({ userProfile: { email: person.email } });
    expect((await person.client(api.secondFactor.passkeyList, {})).entities[0]?.lastUsedAt).not.toBeNull();
  });

  it('is required after the password, and steps a session up', async () => {
    const { person, passkey } = await personWithPasskey();
    const answer = await app.anonymous(api.auth.authentication, { email: person.email, password: PASSWORD });
    if (!('secondFactor' in answer)) return expect.unreachable('a second factor should have been asked for');
    const { ticket, methods } = answer.secondFactor;
    expect(methods).toEqual(['passkey', 'recovery-code']);
    const { options } = await app.anonymous(api.secondFactor.passkeyOptions, { ticket });
    expect(options.allowCredentials?.map(({ id }) => id)).toEqual([passkey.id]);
    await app.anonymous(api.secondFactor.verify, { ticket, assertion: passkey.answer(options, { verified: false }) });

    await sql`update session set stepped_up_at = null where user_id = ${person.userId}`.execute(app.ctx.db);
    expect(await statusOf(person.client(api.secondFactor.recoveryCodes, {}))).toBe(403);
    const asked = await person.client(api.secondFactor.stepUpOptions, {});
    await person.client(api.secondFactor.stepUp, { assertion: passkey.answer(asked.options) });
    expect(await statusOf(person.client(api.secondFactor.recoveryCodes, {}))).toBe(200);
  });

  it('is refused unless it answers the very challenge of this site, session and user', async () => {
    const { person, passkey } = await personWithPasskey();
    const other = await personWithPasskey();
    const handleOfOther = (
      await sql<{
        handle: Buffer;
      }>`select passkey_handle as handle from app_user where id = ${other.person.userId}`.execute(app.ctx.db)
    ).rows[0]?.handle.toString('base64url');
    const used = await askToLogIn();
    await logIn(passkey.answer(used));
    const late = await askToLogIn();
    await sql`update passkey_challenge set expires_at = now()`.execute(app.ctx.db);
    const ofStepUp = (await person.client(api.secondFactor.stepUpOptions, {})).options;
    const findTicket = async ({ email }: Person) => {
      const answer = await app.anonymous(api.auth.authentication, { email, password: PASSWORD });
      return 'secondFactor' in answer ? answer.secondFactor.ticket : '';
    };
    const ticket = await findTicket(person);
    const ofTicket = (await app.anonymous(api.secondFactor.passkeyOptions, { ticket })).options;
    const fresh = askToLogIn;

    const attempts: Record<string, () => Promise<unknown>> = {
      'a page of another origin': async () => logIn(passkey.answer(await fresh(), { origin: 'https://stagi.example' })),
      'another port of this host': async () => logIn(passkey.answer(await fresh(), { origin: 'http://localhost:1' })),
      'a key of another host': async () => logIn(passkey.answer(await fresh(), { rpId: 'stagi.example' })),
      'a made-up challenge': async () => logIn(passkey.answer({ challenge: 'a'.repeat(43) })),
      'a challenge that was answered': () => logIn(passkey.answer(used)),
      'a challenge of yesterday': () => logIn(passkey.answer(late)),
      'the challenge of a step-up': () => logIn(passkey.answer(ofStepUp)),
      'the challenge of a second factor': () => logIn(passkey.answer(ofTicket)),
      'the answer to a registration': async () => logIn(passkey.answer(await fresh(), { type: 'webauthn.create' })),
      'a signature over something else': async () => logIn(passkey.answer(await fresh(), { forged: true })),
      'a key that nobody unlocked': async () => logIn(passkey.answer(await fresh(), { verified: false })),
      'somebody else’s name': async () => logIn(passkey.answer(await fresh(), { userHandle: handleOfOther })),
      'nobody’s name': async () =>
        logIn({
          ...passkey.answer(await fresh()),
          response: { ...passkey.answer(await fresh()).response, userHandle: null },
        }),
      'a key that was never added': async () =>
        logIn(virtualAuthenticator(origin).answer(await fresh(), { userHandle: 'abc' })),
      'somebody else’s key id': async () => logIn({ ...passkey.answer(await fresh()), id: other.passkey.id }),
      'a counter that stands still': async () => logIn(passkey.answer(await fresh(), { counter: 1 })),
      'a counter that goes back to nothing': async () => logIn(passkey.answer(await fresh(), { counter: 0 })),
      'no JSON': async () => {
        const assertion = passkey.answer(await fresh());
        return logIn({ ...assertion, response: { ...assertion.response, clientDataJSON: 'AAAA' } });
      },
      'somebody else’s key as second factor': async () => {
        const { options } = await app.anonymous(api.secondFactor.passkeyOptions, { ticket });
        return app.anonymous(api.secondFactor.verify, {
          ticket,
          assertion: other.passkey.answer(options, { counter: 90 }),
        });
      },
      'the challenge of another ticket': async () => {
        const { options } = await app.anonymous(api.secondFactor.passkeyOptions, { ticket: await findTicket(person) });
        return app.anonymous(api.secondFactor.verify, { ticket, assertion: passkey.answer(options, { counter: 91 }) });
      },
      'a step-up with somebody else’s key': async () => {
        const { options } = await person.client(api.secondFactor.stepUpOptions, {});
        return person.client(api.secondFactor.stepUp, { assertion: other.passkey.answer(options, { counter: 92 }) });
      },
      'a step-up with the challenge of another session': async () => {
        const { options } = await other.person.client(api.secondFactor.stepUpOptions, {});
        return person.client(api.secondFactor.stepUp, { assertion: passkey.answer(options, { counter: 93 }) });
      },
    };
    // A lower counter than the stored one means a cloned passkey.
    await logIn(passkey.answer(await fresh(), { counter: 50 }));
    let accepted = 0;
    for (const [name, attempt] of Object.entries(attempts)) {
      await app.ctx.db.deleteFrom('attempt').execute();
      const status = await statusOf(attempt());
      expect.soft(status, name).toBe(400);
      if (status === 200) accepted += 1;
    }
    console.log(`hostile passkeys: n = ${Object.keys(attempts).length}, accepted ${accepted}`);
    expect(accepted).toBe(0);
    expect(await statusOf(logIn(passkey.answer(await fresh(), { counter: 100 })))).toBe(200);
  });

  it('is not added when it is of another site, without user verification or for another session', async () => {
    const person = await app.signUp();
    const stranger = await app.signUp();
    await markSteppedUp(app.ctx, person);
    await markSteppedUp(app.ctx, stranger);
    const ask = async (who = person) => (await who.client(api.secondFactor.passkeyAddOptions, {})).options;
    const add = (attestation: ReturnType<VirtualAuthenticator['create']>) =>
      statusOf(person.client(api.secondFactor.passkeyAdd, { name: 'k', attestation }));
    const key = virtualAuthenticator(origin);
    expect(await add(key.create(await ask(), { origin: 'https://stagi.example' }))).toBe(400);
    expect(await add(key.create(await ask(), { rpId: 'stagi.example' }))).toBe(400);
    expect(await add(key.create(await ask(), { verified: false }))).toBe(400);
    expect(await add(key.create(await ask(stranger)))).toBe(400);
    expect(await add(key.create(await ask(), { challenge: 'a'.repeat(43) }))).toBe(400);
    const options = await ask();
    expect(await add(key.create(options))).toBe(200);
    expect(await add(key.create(options))).toBe(400);
    // The same passkey a second time, for any user.
    expect(await add(key.create(await ask()))).toBe(0);
    expect((await person.client(api.secondFactor.passkeyList, {})).totalCount).toBe(1);
  });

  it('is refused when the account is disabled', async () => {
    const { person, passkey } = await personWithPasskey();
    await sql`update app_user set disabled_at = now() where id = ${person.userId}`.execute(app.ctx.db);
    expect(await statusOf(logIn(passkey.answer(await askToLogIn())))).toBe(400);
  });
});
