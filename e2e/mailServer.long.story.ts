import type { Page } from '@playwright/test';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { makeOperator } from '@stagi/server/src/testing/factories.ts';
import { PASSWORD } from '@stagi/server/src/testing/person.ts';
import { type Smtp, startSmtp } from '@stagi/server/src/testing/smtp.ts';
import { expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openPublic } from './openPublic.ts';
import { expectNoSidewaysScroll } from './operatorSections.ts';
import { enter, typeCode } from './people.ts';

const NOT_SENT = 'We could not send the mail. Try again in a few minutes.';
const EMAIL = 'vera@example.com';
const MINUTE_MS = 60_000;
/** A check of the mail server, and a look at its result. */
const SEEN = { timeout: MINUTE_MS };

let smtp: Smtp;
let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  smtp = await startSmtp('mailer', 'canary-smtp');
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ SMTP_URL: smtp.url })));
});
test.afterAll(async () => {
  await stop?.();
  await smtp?.close();
});

test('while the mail server fails nothing typed is lost, and operators see it on every page', async ({
  page,
  browser,
}) => {
  test.setTimeout(8 * MINUTE_MS);
  const olga = await app.signUp('Olga');
  await makeOperator(app.ctx, olga);
  const operators = await (await browser.newContext()).newPage();
  await enter(operators, app.url, olga, '/admin/users');
  const alarm = operators.getByRole('status').filter({ hasText: /mail/i });
  await expect(operators.getByRole('heading', { level: 1 })).toHaveText('Users');
  await expect(alarm).toHaveCount(0);

  await test.step('operators see why, at 1280 and 360 px', async () => {
    smtp.refuse();
    await expect(alarm).toContainText('The mail server refuses user or password: Invalid login: 535', SEEN);
    await expect(alarm).toContainText(/Mails cannot be sent since \d\d\.\d\d\.\d{4} \d\d:\d\d\./);
    await expect(alarm).not.toContainText('canary');
    await expectNoSidewaysScroll(operators);
    await expectAccessible(operators, 'alarm of the mail server');
    await operators.setViewportSize({ width: 360, height: 740 });
    await expect(alarm).toBeVisible();
    await expectNoSidewaysScroll(operators);
  });

  const signUp = page.getByRole('button', { name: 'Sign up', exact: true }).last();
  await test.step('sign-up says that no code was sent, and keeps the form', async () => {
    await openPublic(page, `${app.url}/sign-up`);
    await page.getByLabel('Name').fill('Vera');
    await page.getByLabel('Email').fill(EMAIL);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Repeat the password').fill(PASSWORD);
    await signUp.click();
    await expect(page.getByText(NOT_SENT, { exact: true })).toBeVisible();
    await expect(page).toHaveURL(/\/sign-up$/);
    await expect(page.getByLabel('Name')).toHaveValue('Vera');
    await expect(page.getByLabel('Repeat the password')).toHaveValue(PASSWORD);
  });

  await test.step('the same form goes through once the server is back', async () => {
    smtp.recover();
    await expect(alarm).toHaveCount(0, SEEN);
    await signUp.click();
    await expect(page).toHaveURL(/\/confirmation/);
    await expect.poll(() => smtp.mails.some(({ to }) => to === EMAIL)).toBe(true);
  });

  await test.step('another code is refused without a wait', async () => {
    await app.ctx.db
      .updateTable('pending_registration')
      .set({ sent_at: new Date(0) })
      .execute();
    await skipWait(page);
    smtp.refuse();
    await expect(alarm).toBeVisible(SEEN);
    const again = page.getByRole('button', { name: 'Send a new code' });
    await again.click();
    await expect(page.getByText(NOT_SENT, { exact: true })).toBeVisible();
    await expect(again).toBeVisible();
  });

  await test.step('recovery and a confirmed step say it too', async () => {
    const other = await (await browser.newContext()).newPage();
    await openPublic(other, `${app.url}/recovery`);
    await other.getByLabel('Email').fill(EMAIL);
    await other.getByRole('button', { name: 'Send the code' }).click();
    await expect(other.getByText(NOT_SENT, { exact: true })).toBeVisible();
    await expect(other.getByLabel('Email')).toHaveValue(EMAIL);

    await operators.setViewportSize({ width: 1280, height: 800 });
    await operators.goto(`${app.url}/profile/account`);
    await operators.getByRole('button', { name: 'Change the address' }).click();
    await operators.getByLabel('New email').fill('olga-new@example.com');
    await operators.getByRole('button', { name: 'Send the code' }).click();
    const dialog = operators.getByTestId('step-up');
    await expect(dialog).toContainText(NOT_SENT);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expect(operators.getByLabel('New email')).toHaveValue('olga-new@example.com');
  });

  await test.step('the link of the alarm leads to what to do', async () => {
    await alarm.getByRole('link', { name: 'What to do' }).click();
    await expect(operators).toHaveURL(/\/docs\/operating\/mail#when-mails-do-not-arrive$/);
    await expect(operators.getByRole('heading', { name: 'When mails do not arrive' })).toBeInViewport();
    smtp.recover();
    await expect(alarm).toHaveCount(0, SEEN);
  });

  await test.step('the mailed code completes the sign-up', async () => {
    await page.getByRole('button', { name: 'Send a new code' }).click();
    await expect(page.getByText('New code sent')).toBeVisible();
    const codes = () => smtp.mails.filter(({ to }) => to === EMAIL).map(({ text }) => text.match(/\b\d{8}\b/)?.[0]);
    await expect.poll(() => codes().length).toBe(2);
    await typeCode(page, codes().at(-1)!);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('About you');
  });
});

test('a public platform that shows its mails, or has no mail server, says so', async ({ page }) => {
  const origin = { APP_ORIGIN: 'https://stagi.example', ALLOWED_HOSTS: '127.0.0.1' };
  const shown = await startTestApp({ ...origin, DEV_MAIL: 'on public' }, { role: 'api' });
  try {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${shown.url}/sign-in`);
    const notice = page.getByRole('status').filter({ hasText: 'This platform shows its mails to everybody.' });
    await expect(notice).toBeVisible();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page, 'notice of a public outbox');
  } finally {
    await shown.close();
  }
  const silent = await startTestApp(origin, { role: 'api' });
  try {
    const olga = await silent.signUp('Olga');
    await makeOperator(silent.ctx, olga);
    await enter(page, silent.url, olga, '/admin/users');
    const alarm = page
      .getByRole('status')
      .filter({ hasText: 'Nobody can sign up or recover a password until SMTP_URL is set.' });
    await expect(alarm).toBeVisible();
    await expectNoSidewaysScroll(page);
  } finally {
    await silent.close();
  }
});

/** As if the last code had been mailed long ago. */
async function skipWait(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const key of Object.keys(sessionStorage)) {
      const value = sessionStorage.getItem(key) ?? '';
      if (value.includes('mailedAt'))
        sessionStorage.setItem(key, JSON.stringify({ ...JSON.parse(value), mailedAt: 0 }));
    }
  });
  await page.reload();
}
