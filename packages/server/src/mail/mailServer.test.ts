import { createServer, type Server } from 'node:net';
import type { MailFailureReason } from '@stagi/contract/adminSystem.ts';
import { api } from '@stagi/contract/api.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readPlatformMetrics } from '../metrics/platformMetrics.ts';
import { sample, scrapeMetrics } from '../metrics/testing/scrape.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator, markSteppedUp } from '../testing/factories.ts';
import { PASSWORD, type Person } from '../testing/person.ts';
import { refusal } from '../testing/refusal.ts';
import { type Smtp, startSmtp } from '../testing/smtp.ts';
import { totpCode } from '../testing/totpCode.ts';
import { checkMailServer } from './mailServerCheck.ts';
import { type MailTransport, openMailTransport } from './transport.ts';

const SMTP_PASSWORD = 'canary/smtp 4be1a9';
const PATIENCE = { timeout: 60_000, interval: 50 };
const NOT_SENT = {
  status: 503,
  retryAfter: 60,
  body: { code: 'mail', message: 'We could not send the mail. Try again in a few minutes.' },
};

const emails = (function* () {
  for (let n = 1; ; n += 1) yield `visitor${n}@example.com`;
})();
const newEmail = (): string => emails.next().value;

const register = (app: TestApp, email = newEmail()) =>
  app.anonymous(api.auth.register, { name: 'Vera', email, password: PASSWORD });

async function anOperator(app: TestApp): Promise<Person> {
  const olga = await app.signUp('Olga');
  await makeOperator(app.ctx, olga);
  return olga;
}

const mailOf = async (operator: Person) => (await operator.client(api.adminSystem.view, {})).entity.mail;

describe('the check of the mail server', () => {
  let app: TestApp;
  let smtp: Smtp;
  let olga: Person;
  let transport: MailTransport;
  let metricsAt: string;

  beforeAll(async () => {
    smtp = await startSmtp('mailer', SMTP_PASSWORD);
    const port = await freePort();
    metricsAt = `http://127.0.0.1:${port}`;
    // Without workers nothing checks but this test.
    app = await startTestApp({ SMTP_URL: smtp.url, METRICS_PORT: String(port) }, { role: 'api' });
    olga = await anOperator(app);
    transport = await openMailTransport(smtp.url, app.ctx.config);
  });
  afterAll(async () => {
    await app?.close();
    await smtp?.close();
  });
  beforeEach(async () => {
    smtp.recover();
    await app.ctx.db.deleteFrom('mail_server').execute();
    await app.ctx.db.deleteFrom('attempt').execute();
  });

  const check = (by = transport, smtpUrl = smtp.url, answerMs = 10_000) =>
    checkMailServer({ db: app.ctx.db, log: app.ctx.log, config: { smtpUrl } }, by, { answerMs });
  const isUp = async () => (await readPlatformMetrics(app.ctx.db, true)).mailServerUp;

  it('tells what it found, and nothing before it has looked', async () => {
    expect(await mailOf(olga)).toMatchObject({ state: 'unchecked', reason: null, since: null, checkedAt: null });
    expect(await isUp()).toBeNull();
    await check();
    expect(await mailOf(olga)).toMatchObject({ state: 'working', reason: null, detail: null, failed: 0 });
    expect(await isUp()).toBe(true);
    expect((await readPlatformMetrics(app.ctx.db, false)).mailServerUp).toBeNull();
    expect(sample(await scrapeMetrics(metricsAt), 'stagi_mail_server_up')).toBe(1);
  });

  it('is for operators alone', async () => {
    const alice = await app.signUp();
    expect(await refusal(alice.client(api.adminSystem.view, {}))).toMatchObject({ status: 403 });
  });

  it.each<[string, MailFailureReason, RegExp, () => Promise<void>]>([
    [
      'has a closed port',
      'unreachable',
      /ECONNREFUSED/,
      async () => {
        const smtpUrl = `smtp://127.0.0.1:${await freePort()}`;
        await check(await openMailTransport(smtpUrl, app.ctx.config), smtpUrl);
      },
    ],
    [
      'has no address',
      'unreachable',
      /ENOTFOUND|EAI_AGAIN|EDNS|queryA|ESERVFAIL|ECONNREFUSED/,
      async () => {
        const smtpUrl = 'smtp://mail.invalid';
        await check(await openMailTransport(smtpUrl, app.ctx.config), smtpUrl);
      },
    ],
    [
      'refuses to talk',
      'refused',
      /554 go away/,
      async () => {
        smtp.greet('554 go away');
        await check();
      },
    ],
    [
      'is silent',
      'silent',
      /no answer within 0\.3 s/,
      async () => {
        smtp.greet(null);
        await check(transport, smtp.url, 300);
      },
    ],
    [
      'refuses the password, and repeats it',
      'sign-in',
      /535 … is not yours: AUTH PLAIN …$/,
      async () => {
        smtp.refuse();
        await check();
      },
    ],
    [
      'offers no TLS where it is required',
      'tls',
      /STARTTLS/,
      async () => {
        const smtpUrl = smtp.url.replace('?ignoreTLS=true', '');
        await check(await openMailTransport(smtpUrl, { ...app.ctx.config, mayMailPlainly: false }), smtpUrl);
      },
    ],
    [
      'speaks no TLS where it should from the first byte',
      'tls',
      /SSL|TLS/i,
      async () => {
        const smtpUrl = smtp.url.replace('smtp:', 'smtps:');
        await check(await openMailTransport(smtpUrl, app.ctx.config), smtpUrl);
      },
    ],
    [
      'hangs up',
      'unreachable',
      /closed/i,
      async () => {
        const server = await hangsUp();
        const smtpUrl = `smtp://127.0.0.1:${(server.address() as { port: number }).port}`;
        await check(await openMailTransport(smtpUrl, app.ctx.config), smtpUrl);
        server.close();
      },
    ],
  ])('a mail server that %s fails, and works again by itself', async (_, reason, detail, failing) => {
    await check();
    await failing();
    const failed = await mailOf(olga);
    expect(failed).toMatchObject({ state: 'failing', reason, detail: expect.stringMatching(detail) });
    expect(JSON.stringify(failed)).not.toMatch(/canary|4be1a9/);
    expect(await isUp()).toBe(false);
    expect(await refusal(register(app))).toMatchObject(NOT_SENT);

    smtp.recover();
    await check();
    expect(await mailOf(olga)).toMatchObject({ state: 'working', reason: null, detail: null });
    await register(app);
  });

  it('keeps the beginning of a failure, whatever the reason becomes', async () => {
    smtp.greet('554 go away');
    await check();
    const { since } = await mailOf(olga);
    smtp.recover();
    smtp.refuse();
    await check();
    expect(await mailOf(olga)).toMatchObject({ reason: 'sign-in', since });
  });

  it('no mailed code is promised while it fails, nothing is counted or stored, and addresses are not told apart', async () => {
    const ada = await app.signUp('Ada');
    await markSteppedUp(app.ctx, ada);
    const email = newEmail();
    const { flow } = await register(app, email);
    await app.ctx.db
      .updateTable('pending_registration')
      .set({ sent_at: new Date(0) })
      .execute();
    await app.ctx.db.deleteFrom('attempt').execute();
    const before = await stored(app);
    smtp.refuse();
    await check();

    const unknown = newEmail();
    const calls: Record<string, () => Promise<unknown>> = {
      'sign-up': () => register(app, unknown),
      'sign-up of a known address': () => register(app, ada.email),
      'another code of a sign-up': () => app.anonymous(api.auth.resendCode, { email, flow }),
      'another code of no sign-up': () => app.anonymous(api.auth.resendCode, { email: newEmail() }),
      recovery: () => app.anonymous(api.auth.resetPasswordCode, { email: ada.email }),
      'recovery of no account': () => app.anonymous(api.auth.resetPasswordCode, { email: unknown }),
      'change of address': () => ada.client(api.account.changeEmail, { newEmail: unknown }),
      'change to a known address': () => ada.client(api.account.changeEmail, { newEmail: olga.email }),
      'step-up by mail': () => ada.client(api.secondFactor.stepUpBegin, {}),
    };
    for (const [name, made] of Object.entries(calls)) {
      const { requestId: _, ...body } = (await refusal(made())).body!;
      expect.soft({ ...NOT_SENT, body }, name).toEqual({
        ...NOT_SENT,
        body: { isSuccess: false, code: 'mail', message: NOT_SENT.body.message },
      });
    }
    expect(await stored(app)).toEqual(before);

    smtp.recover();
    await check();
    for (const made of Object.values(calls)) {
      await app.ctx.db.deleteFrom('attempt').execute();
      await made();
    }
  });

  it('other ways go on while it fails: a password, a code of an app, what was mailed before', async () => {
    const ada = await app.signUp('Ada');
    const { mailed } = await ada.client(api.secondFactor.stepUpBegin, {});
    const tina = await app.signUp('Tina');
    await markSteppedUp(app.ctx, tina);
    const { secret } = await tina.client(api.secondFactor.totpBegin, {});
    await tina.client(api.secondFactor.totpConfirm, { code: totpCode(secret, Date.now()) });
    await app.ctx.db.updateTable('totp').set({ last_step: 0n }).where('user_id', '=', tina.userId).execute();
    smtp.refuse();
    await check();

    expect(await ada.client(api.secondFactor.stepUpBegin, {})).toMatchObject({ mailed: { to: mailed!.to } });
    expect(await app.anonymous(api.auth.authentication, { email: ada.email, password: PASSWORD })).toHaveProperty(
      'accessToken',
    );
    expect(await tina.client(api.secondFactor.stepUpBegin, {})).toMatchObject({
      methods: expect.arrayContaining(['totp']),
      mailed: null,
    });
    await tina.client(api.secondFactor.stepUp, { code: totpCode(secret, Date.now()) });
  });

  it('a failure that nobody has looked at for minutes holds nobody up', async () => {
    smtp.refuse();
    await check();
    expect(await refusal(register(app))).toMatchObject(NOT_SENT);
    await sql`update mail_server set checked_at = now() - interval '4 minutes'`.execute(app.ctx.db);
    await register(app);
    expect(await mailOf(olga)).toMatchObject({ state: 'unchecked', reason: null });
    expect(await isUp()).toBeNull();
  });
});

describe('sending', () => {
  let app: TestApp;
  let smtp: Smtp;
  let olga: Person;

  beforeAll(async () => {
    smtp = await startSmtp('mailer', SMTP_PASSWORD);
    app = await startTestApp({ SMTP_URL: smtp.url });
    olga = await anOperator(app);
  });
  afterAll(async () => {
    await app?.close();
    await smtp?.close();
  });
  afterEach(() => smtp.recover());

  const stateBecomes = (wanted: object) => expect.poll(() => mailOf(olga), PATIENCE).toMatchObject(wanted);

  it('shows a failure at once, without the password that the server repeats', async () => {
    await stateBecomes({ state: 'working', waiting: 0 });
    smtp.refuse();
    const email = newEmail();
    await register(app, email);
    await stateBecomes({ state: 'failing', reason: 'sign-in', failed: 1 });
    expect(await refusal(register(app))).toMatchObject(NOT_SENT);
    const { last_error } = await app.ctx.db
      .selectFrom('mail')
      .select('last_error')
      .where('recipient', '=', email)
      .executeTakeFirstOrThrow();
    expect(last_error).toMatch(/535 … is not yours/);
    const { rows: jobs } = await sql<{ output: string }>`
      select output::text as output from pgboss.job where name = 'mail.send'`.execute(app.ctx.db);
    expect(JSON.stringify(jobs)).not.toMatch(/canary|4be1a9/);
  });

  it('to a refused sender fails until a mail is taken: a check names none', async () => {
    const transport = await openMailTransport(smtp.url, app.ctx.config);
    const check = () => checkMailServer({ ...app.ctx, config: { smtpUrl: smtp.url } }, transport);
    await check();
    smtp.refuseSender();
    await register(app);
    await stateBecomes({ state: 'failing', reason: 'sender', detail: expect.stringContaining('550 5.7.1') });
    await check();
    expect(await mailOf(olga)).toMatchObject({ state: 'failing', reason: 'sender' });
    // Nobody tries it for some minutes: then the next who asks may.
    await sql`update mail_server set checked_at = now() - interval '4 minutes'`.execute(app.ctx.db);
    expect(await mailOf(olga)).toMatchObject({ state: 'failing', reason: 'sender' });
    smtp.recover();
    await register(app);
    await stateBecomes({ state: 'working' });
  });
});

describe('a public platform without a mail server', () => {
  const PUBLIC = { APP_ORIGIN: 'https://stagi.example' };

  it('warns at its start, tells operators, and refuses to promise a code', async () => {
    const said: unknown[] = [];
    const app = await startTestApp(PUBLIC, {
      role: 'api',
      step: async (_doing, done, work) => {
        const result = await work();
        said.push(done(result));
        return result;
      },
    });
    try {
      expect(said).toContainEqual({
        missing: expect.stringMatching(/^Mail: SMTP_URL is not set\. Nobody can sign up, recover a password/),
      });
      expect(await refusal(register(app))).toMatchObject({
        status: 503,
        retryAfter: null,
        body: {
          code: 'mail',
          message: 'This platform has no mail server yet, so it cannot send a code. Ask its operator.',
        },
      });
      expect(await stored(app)).toMatchObject({ attempt: 0, pending_registration: 0 });
      expect(await mailOf(await anOperator(app))).toMatchObject({ state: 'none', reason: null });
      expect(await siteOf(app)).not.toHaveProperty('isOutboxPublic');
    } finally {
      await app.close();
    }
  });

  it('that shows its mails to everybody says so to everybody', async () => {
    const app = await startTestApp({ ...PUBLIC, DEV_MAIL: 'on public' }, { role: 'api' });
    try {
      expect(await siteOf(app)).toMatchObject({ isOutboxPublic: true });
      await register(app);
      expect(await mailOf(await anOperator(app))).toMatchObject({ state: 'outbox', waiting: 1 });
    } finally {
      await app.close();
    }
  });
});

const siteOf = async (app: TestApp): Promise<unknown> => (await fetch(`${app.url}/configuration.json`)).json();

/** The rows of the tables that asking for a code writes. */
async function stored({ ctx }: TestApp): Promise<Record<string, number>> {
  const { rows } = await sql<{ counts: Record<string, number> }>`select jsonb_build_object(
    'attempt', (select count(*) from attempt), 'mail', (select count(*) from mail),
    'pending_registration', (select count(*) from pending_registration),
    'password_reset', (select count(*) from password_reset), 'email_change', (select count(*) from email_change),
    'step_up_code', (select count(*) from step_up_code)) as counts`.execute(ctx.db);
  return rows[0]!.counts;
}

/** A server that ends each connection without a word. */
async function hangsUp(): Promise<Server> {
  const server = createServer((socket) => socket.end());
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return server;
}
