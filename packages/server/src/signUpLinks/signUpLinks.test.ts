import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anInvite, aSignUpLink, makeOperator, markSteppedUp } from '../testing/factories.ts';
import { httpSender, mailedCode, mailsTo, PASSWORD, type Person, signUp } from '../testing/person.ts';
import { refusal } from '../testing/refusal.ts';

const DAY_MS = 86_400_000;
const UNUSABLE = 'This invitation can no longer be used. Ask the sender for a new one.';
const NEEDED = 'You need an invitation to sign up here. Open the link that you were sent.';

const apps = {} as Record<'invite' | 'domain' | 'off', TestApp>;
beforeAll(async () => {
  apps.invite = await startTestApp({ SIGN_UP: 'invite', SIGN_UP_PHONE: 'optional' });
  apps.domain = await startTestApp({ SIGN_UP: 'domain:lab.example,other.example' });
  apps.off = await startTestApp({ SIGN_UP: 'off' });
});
afterAll(async () => {
  for (const app of Object.values(apps)) await app.close();
});

const anEmail = (domain = 'example.com') => `${crypto.randomUUID()}@${domain}`;

const enter = (app: TestApp, given: { email?: string; invite?: string; name?: string } = {}): Promise<Person> =>
  signUp(app.url, httpSender(app.url), { name: 'New Comer', email: anEmail(), ...given });

const begin = (app: TestApp, given: { email?: string; invite?: string } = {}) =>
  app.anonymous(api.auth.register, { name: 'New Comer', email: anEmail(), password: PASSWORD, ...given });

async function anOperator(app: TestApp, given: { email?: string } = {}): Promise<Person> {
  const { code } = await aSignUpLink(app.ctx);
  const person = await enter(app, { invite: code, ...given });
  await makeOperator(app.ctx, person);
  await markSteppedUp(app.ctx, person);
  return person;
}

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const codeOf = (link: string) => new URL(link).searchParams.get('invite') ?? '';

describe('where people need an invitation', () => {
  it('nobody signs up without one, and nothing is mailed', async () => {
    const email = anEmail();
    expect((await refusal(begin(apps.invite, { email }))).message).toBe(NEEDED);
    expect((await refusal(begin(apps.invite, { email, invite: 'guessed' }))).message).toBe(UNUSABLE);
    expect(await mailsTo(apps.invite.url, email)).toEqual([]);
    const page = await fetch(`${apps.invite.url}/configuration.json`);
    expect(await page.json()).toMatchObject({ signUp: { rule: 'invite', domains: [] }, isPhoneOptional: true });
  });

  it('an operator makes a link for two, sees it used up, and revokes another', async () => {
    const app = apps.invite;
    const olga = await anOperator(app);
    const made = await olga.client(api.signUpLinks.create, { note: 'For the lab', uses: 2, expiresAt: inDays(7) });
    expect(made.entity).toMatchObject({ status: 'open', used: 0, usesMax: 2, createdBy: { userId: olga.userId } });
    const invite = codeOf(made.link);
    expect(await app.anonymous(api.signUpLinks.view, { invite })).toMatchObject({ expiresAt: made.entity.expiresAt });
    await enter(app, { invite });
    await enter(app, { invite });
    expect((await refusal(begin(app, { invite }))).message).toBe(UNUSABLE);
    expect((await refusal(app.anonymous(api.signUpLinks.view, { invite }))).message).toBe(UNUSABLE);
    const open = await olga.client(api.signUpLinks.create, { uses: 1, expiresAt: inDays(1) });
    await olga.client(api.signUpLinks.revoke, { id: open.entity.id });
    expect((await refusal(begin(app, { invite: codeOf(open.link) }))).message).toBe(UNUSABLE);
    const { entities } = await olga.client(api.signUpLinks.list, {
      entityFilterRequest: { statuses: ['used up', 'revoked'] },
    });
    expect(entities.map(({ id, status, used }) => [id, status, used])).toEqual(
      expect.arrayContaining([
        [made.entity.id, 'used up', 2],
        [open.entity.id, 'revoked', 0],
      ]),
    );
    expect(JSON.stringify(entities)).not.toContain(invite);
  });

  it('a link of a bad length of life or number of people is refused at its field', async () => {
    const olga = await anOperator(apps.invite);
    const refusals: [{ uses: number; expiresAt: string }, string[]][] = [
      [{ uses: 1, expiresAt: inDays(-1) }, ['expiresAt']],
      [{ uses: 1, expiresAt: inDays(91) }, ['expiresAt']],
      [{ uses: 0, expiresAt: inDays(1) }, ['uses']],
      [{ uses: 1_001, expiresAt: inDays(1) }, ['uses']],
    ];
    for (const [input, fields] of refusals)
      expect((await refusal(olga.client(api.signUpLinks.create, input))).body?.fieldsWithError).toEqual(fields);
  });

  it('of many who confirm at once with a link for one person, one gets an account', async () => {
    const app = apps.invite;
    const { code: invite } = await aSignUpLink(app.ctx);
    const begun = [];
    for (let n = 0; n < 5; n += 1) {
      const email = anEmail();
      const { flow } = await begin(app, { email, invite });
      begun.push({ email, flow, code: await mailedCode(app.url, email) });
    }
    const answers = await Promise.allSettled(begun.map((input) => app.anonymous(api.auth.verifyCode, input)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ message: UNUSABLE });
    const { count } = await app.ctx.db
      .selectFrom('app_user')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where(
        'email',
        'in',
        begun.map(({ email }) => email),
      )
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(1);
  });

  it('the join link of a workspace admits, and makes the new account a member at once', async () => {
    const app = apps.invite;
    const owner = await anOperator(app);
    const { code: invite } = await anInvite(app.ctx, owner, { role: 'Developer', uses: 1 });
    const email = anEmail();
    const { flow } = await begin(app, { email, invite });
    const answer = await app.anonymous(api.auth.verifyCode, { email, code: await mailedCode(app.url, email), flow });
    expect(answer.joinedClientId).toBe(owner.workspaceId);
    const { entities } = await owner.client(api.clients.members, {});
    expect(entities.map((member) => [member.email, member.roleName])).toEqual(
      expect.arrayContaining([[email, 'Developer']]),
    );
    expect((await refusal(begin(app, { invite }))).message).toBe(UNUSABLE);
  });

  it('a full workspace admits nobody, and the account is not made', async () => {
    const app = apps.invite;
    const owner = await anOperator(app);
    const { code: invite } = await anInvite(app.ctx, owner, { uses: 5 });
    await enter(app, { invite });
    const email = anEmail();
    const { flow } = await begin(app, { email, invite });
    const late = app.anonymous(api.auth.verifyCode, { email, code: await mailedCode(app.url, email), flow });
    expect((await refusal(late)).message).toMatch(/^All seats of this workspace are taken/);
    expect(await app.ctx.db.selectFrom('app_user').select('id').where('email', '=', email).execute()).toEqual([]);
  });

  it('the first form may leave the phone number out, but not a wrong one in', async () => {
    const app = apps.invite;
    const { code: invite } = await aSignUpLink(app.ctx);
    const email = anEmail();
    const { flow } = await begin(app, { email, invite });
    const tokens = await app.anonymous(api.auth.verifyCode, { email, code: await mailedCode(app.url, email), flow });
    const send = (body: object) =>
      app.post(api.user.signupForm.path, body, { authorization: `Bearer ${tokens.accessToken}` });
    expect(await send({ name: 'Ada', phone: '12' })).toMatchObject({
      status: 400,
      body: { fieldsWithError: ['phone'] },
    });
    expect(await send({ name: 'Ada' })).toMatchObject({
      status: 200,
      body: { userProfile: { isSignupFormSubmitted: true } },
    });
  });
});

describe('where people need an address of a domain', () => {
  it('only such an address signs up, whatever its case', async () => {
    const app = apps.domain;
    await enter(app, { email: anEmail('Lab.Example').toLowerCase() });
    await begin(app, { email: anEmail('OTHER.example') });
    for (const domain of ['example.com', 'sub.lab.example', 'lab.example.com', 'notlab.example']) {
      const error = await refusal(begin(app, { email: anEmail(domain) }));
      expect(error.message).toBe('Only addresses of lab.example, other.example can be used here');
      expect(error.body?.fieldsWithError).toEqual(['email']);
    }
  });

  it('others sign up by a link of an operator, and not by one of a workspace', async () => {
    const app = apps.domain;
    const owner = await anOperator(app);
    const { code } = await anInvite(app.ctx, owner);
    expect((await refusal(begin(app, { invite: code }))).message).toBe(UNUSABLE);
    const { code: invite } = await aSignUpLink(app.ctx);
    await enter(app, { invite });
  });

  it('an account within moves to no address outside, and to another within', async () => {
    const app = apps.domain;
    const ada = await enter(app, { email: anEmail('lab.example') });
    await markSteppedUp(app.ctx, ada);
    const error = await refusal(ada.client(api.account.changeEmail, { newEmail: anEmail() }));
    expect(error.body?.fieldsWithError).toEqual(['newEmail']);
    await ada.client(api.account.changeEmail, { newEmail: anEmail('other.example') });
  });
});

describe('where nobody may sign up', () => {
  it('not even an invitation lets anybody in', async () => {
    const { code: invite } = await aSignUpLink(apps.off.ctx);
    for (const given of [{}, { invite }])
      expect((await refusal(begin(apps.off, given))).message).toBe('New accounts cannot be made here');
  });
});
