import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator } from '../testing/factories.ts';
import { PASSWORD, type Person } from '../testing/person.ts';
import { type Platform, spawnPlatform } from '../testing/platform.ts';
import { type Smtp, startSmtp } from '../testing/smtp.ts';

const MINUTE_MS = 60_000;
const PATIENCE = { timeout: 2 * MINUTE_MS, interval: 100 };

let app: TestApp;
let smtp: Smtp;
let olga: Person;
let people = 0;

beforeAll(async () => {
  smtp = await startSmtp('mailer', 'canary-smtp');
  app = await startTestApp({ SMTP_URL: smtp.url });
  olga = await app.signUp('Olga');
  await makeOperator(app.ctx, olga);
});
afterAll(async () => {
  await app?.close();
  await smtp?.close();
});
beforeEach(() => becomes({ state: 'working', waiting: 0, failed: 0 }));

const mail = async () => (await olga.client(api.adminSystem.view, {})).entity.mail;
const becomes = (wanted: object) => expect.poll(mail, PATIENCE).toMatchObject(wanted);

/** True when a code is promised to somebody who signs up. */
async function isPromised(): Promise<boolean> {
  people += 1;
  try {
    await app.anonymous(api.auth.register, { name: 'V', email: `v${people}@example.com`, password: PASSWORD });
    return true;
  } catch (error) {
    if (error instanceof CallError && error.body?.code === 'mail') return false;
    throw error;
  }
}

/** The seconds until operators see this state. */
async function secondsUntil(wanted: object): Promise<number> {
  const start = performance.now();
  await becomes(wanted);
  return (performance.now() - start) / 1000;
}

it.each<[string, string, () => Promise<void> | void]>([
  ['hangs', 'silent', () => smtp.greet(null)],
  ['is stopped', 'unreachable', () => smtp.close()],
])(
  'a mail server that %s is seen within a minute, and so is its return',
  {
    timeout: 5 * MINUTE_MS,
  },
  async (failure, reason, fail) => {
    await fail();
    const seen = await secondsUntil({ state: 'failing', reason });
    expect(await isPromised()).toBe(false);
    if (failure === 'is stopped') smtp = await startSmtp('mailer', 'canary-smtp', smtp.port);
    else smtp.recover();
    const recovered = await secondsUntil({ state: 'working' });
    console.log(
      `mail server that ${failure}: seen after ${seen.toFixed(1)} s, its return after ${recovered.toFixed(1)} s`,
    );
    expect(Math.max(seen, recovered)).toBeLessThan(60);
    expect(await isPromised()).toBe(true);
    await expect.poll(() => smtp.mails.at(-1)?.to, PATIENCE).toBe(`v${people}@example.com`);
  },
);

it('a greylist delays a mail and is no failure', { timeout: 3 * MINUTE_MS }, async () => {
  smtp.greylist(2);
  expect(await isPromised()).toBe(true);
  await becomes({ state: 'working', failed: 1 });
  expect(await isPromised()).toBe(true);
  await becomes({ state: 'working', waiting: 0, failed: 0 });
  expect(smtp.mails.slice(-2).map(({ to }) => to)).toContain(`v${people}@example.com`);
  expect(smtp.mails.slice(-2).map(({ to }) => to)).toContain(`v${people - 1}@example.com`);
});

it('the mail whose sending showed the failure arrives once the server is back', {
  timeout: 3 * MINUTE_MS,
}, async () => {
  smtp.refuse();
  expect(await isPromised()).toBe(true);
  await becomes({ state: 'failing', reason: 'sign-in', failed: 1 });
  smtp.recover();
  await becomes({ state: 'working', failed: 0 });
  expect(smtp.mails.at(-1)?.to).toBe(`v${people}@example.com`);
});

it('the log has the failure, its return and the warning of a start without SMTP', {
  timeout: 4 * MINUTE_MS,
}, async () => {
  const platform: Platform = await spawnPlatform({ SMTP_URL: smtp.url, MAIL_FROM: 'a@example.com' });
  try {
    smtp.refuse();
    await expect.poll(() => platform.log(), PATIENCE).toMatch(/"reason":"sign-in".*"mails cannot be sent"/);
    smtp.recover();
    await expect
      .poll(() => platform.log(), PATIENCE)
      .toMatch(/"formerReason":"sign-in".*"the mail server works again"/);
    expect(platform.log()).not.toContain('canary');
  } finally {
    await platform.remove();
  }
  const silent = await spawnPlatform({ APP_ORIGIN: 'https://stagi.example', ALLOWED_HOSTS: '127.0.0.1' });
  try {
    expect(silent.log()).toMatch(/"level":40.*SMTP_URL is not set/);
  } finally {
    await silent.remove();
  }
});
