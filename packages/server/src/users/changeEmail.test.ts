import { api } from '@stagi/contract/api.ts';
import { CODE_TRIES } from '@stagi/contract/mailedCodes.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resetAttempts } from '../attempts/attempts.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { mailedCode, type Person } from '../testing/person.ts';
import { storedMails } from '../testing/storedMails.ts';
import { as, change, newAddress, signIn, signUp } from './testing/accounts.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ TRUST_PROXY: '127.0.0.1', SUPPORT_EMAIL: 'help@example.com' });
});
afterAll(() => app?.close());

const confirm = (person: Person, code: string) => app.post('auth/email/confirm-new-email', { code }, as(person));
const otherThan = (code: string, offset = 1) => String((Number(code) + offset) % 100_000_000).padStart(8, '0');
const WRONG = { status: 400, body: { message: 'Incorrect or expired code', fieldsWithError: ['code'] } };

const userRow = (id: number) =>
  app.ctx.db.selectFrom('app_user').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** As after a day without attempts. */
const resetAllAttempts = () => app.ctx.db.deleteFrom('attempt').execute();

describe('changing the address', () => {
  it('takes effect with the mailed code, revokes the other sessions and notifies the old address', async () => {
    const person = await signUp(app, 'Ada');
    const elsewhere = await signIn(app, person.email);
    const newEmail = newAddress();
    expect(await change(app, person, ` ${newEmail.toUpperCase()} `)).toMatchObject({
      status: 200,
      body: { isSuccess: true },
    });
    expect((await userRow(person.userId)).email).toBe(person.email);
    const code = await mailedCode(app.url, newEmail);
    const { userProfile } = await person.client(api.account.confirmNewEmail, { code });
    expect(userProfile).toMatchObject({ email: newEmail, userId: person.userId });
    expect((await person.client(api.user.profile, {})).userProfile.email).toBe(newEmail);
    const { accessToken } = elsewhere.body as { accessToken: string };
    expect((await app.post('user/profile', {}, { authorization: `Bearer ${accessToken}` })).status).toBe(401);
    expect((await signIn(app, person.email)).status).toBe(400);
    expect((await signIn(app, newEmail)).status).toBe(200);
    const [told] = await storedMails(app.ctx, person.email);
    expect(told?.subject).toBe('The address of your Stagi account was changed');
    expect(told?.text).toContain('help@example.com');
    expect(told?.text).not.toContain(newEmail);
    expect(await confirm(person, code)).toMatchObject(WRONG);
  });

  it('requires a valid address that differs from the current one', async () => {
    const person = await signUp(app);
    expect(await change(app, person, person.email.toUpperCase())).toMatchObject({
      status: 400,
      body: { message: 'A new email must differ from the current one', fieldsWithError: ['newEmail'] },
    });
    expect(await change(app, person, 'not an address')).toMatchObject({
      status: 400,
      body: { fieldMessages: { newEmail: 'Incorrect email' } },
    });
  });

  it('answers the same for an address that has an account, and no code changes to it', async () => {
    const [person, owner] = [await signUp(app), await signUp(app, 'Owner')];
    const free = await change(app, person, newAddress());
    const taken = await change(app, person, owner.email);
    expect({ ...taken, body: { ...(taken.body as object), requestId: null } }).toEqual({
      ...free,
      body: { ...(free.body as object), requestId: null },
    });
    const [mail] = await storedMails(app.ctx, owner.email);
    expect(mail?.subject).toBe('Your address is in use at Stagi');
    expect(mail?.subject + (mail?.text ?? '')).not.toMatch(/\d{8}/);
    // Even with the code, which was not mailed.
    const { hashSecret } = await import('../passwords/hashing.ts');
    await app.ctx.db
      .updateTable('email_change')
      .set({ code_hash: await hashSecret('12345678') })
      .where('user_id', '=', person.userId)
      .execute();
    expect(await confirm(person, '12345678')).toMatchObject(WRONG);
    expect((await userRow(person.userId)).email).toBe(person.email);
    expect((await userRow(owner.userId)).email).toBe(owner.email);
  });

  it('refuses a wrong code five times, then the right one too; an expired one; one of another session or address', async () => {
    const person = await signUp(app);
    const newEmail = newAddress();
    await change(app, person, newEmail);
    const code = await mailedCode(app.url, newEmail);
    for (let tries = 1; tries <= CODE_TRIES; tries += 1)
      expect(await confirm(person, otherThan(code, tries))).toMatchObject(WRONG);
    expect(await confirm(person, code)).toMatchObject(WRONG);

    await resetAllAttempts();
    await change(app, person, newEmail);
    const second = await mailedCode(app.url, newEmail);
    await app.ctx.db
      .updateTable('email_change')
      .set({ expires_at: sql<Date>`now() - interval '1 second'` })
      .where('user_id', '=', person.userId)
      .execute();
    expect(await confirm(person, second)).toMatchObject(WRONG);

    await resetAllAttempts();
    await change(app, person, newEmail);
    const third = await mailedCode(app.url, newEmail);
    const { accessToken } = (await signIn(app, person.email)).body as { accessToken: string };
    const foreign = await app.post(
      'auth/email/confirm-new-email',
      { code: third },
      { authorization: `Bearer ${accessToken}` },
    );
    expect(foreign).toMatchObject(WRONG);
    const later = newAddress();
    await change(app, person, later);
    if (third !== (await mailedCode(app.url, later))) expect(await confirm(person, third)).toMatchObject(WRONG);
    expect((await userRow(person.userId)).email).toBe(person.email);
    expect((await confirm(person, await mailedCode(app.url, later))).status).toBe(200);
  });

  it('limits the mails to one address', async () => {
    const person = await signUp(app);
    const newEmail = newAddress();
    expect((await change(app, person, newEmail)).status).toBe(200);
    expect(await change(app, person, newEmail)).toMatchObject({ status: 429, retryAfter: expect.any(Number) });
    const sent: number[] = [];
    // However many accounts ask for it.
    for (let n = 0; n < 8; n += 1) {
      for (const own of [`change-email|${person.userId}`, `change-email|${person.userId}|${newEmail}`])
        await resetAttempts(app.ctx.db, own);
      sent.push((await change(app, person, newEmail)).status);
    }
    expect(sent.filter((status) => status === 200)).toHaveLength(4);
    expect((await storedMails(app.ctx, newEmail)).length).toBe(5);
  });

  it('is refused when somebody signed up with the address meanwhile', async () => {
    const person = await signUp(app);
    const newEmail = newAddress();
    await change(app, person, newEmail);
    const code = await mailedCode(app.url, newEmail);
    await app.ctx.db.insertInto('app_user').values({ email: newEmail, name: 'Quick', password_hash: null }).execute();
    expect(await confirm(person, code)).toMatchObject(WRONG);
    expect((await person.client(api.user.profile, {})).userProfile.email).toBe(person.email);
  });
});
