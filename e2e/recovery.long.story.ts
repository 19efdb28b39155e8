import type { Page } from '@playwright/test';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { mailedCode, mailsTo, PASSWORD } from '@stagi/server/src/testing/person.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { openPublic } from './openPublic.ts';
import { sendSignUpForm, signUpInBrowser, typeCode } from './people.ts';

const NEW_PASSWORD = 'Fresh-battery-42';
const LATER_PASSWORD = 'Later-staple-43';

test.use({ viewport: { width: 360, height: 740 } });

test('somebody sets a new password with a mailed code, later changes it, and errors stand at their fields', async ({
  page,
  platform,
}) => {
  const { email } = await signUpInBrowser(page, platform, 'Grace Hopper');
  await page.evaluate(() => localStorage.clear());

  await openPublic(page, `${platform.url}/sign-in?returnUrl=${encodeURIComponent('/profile/account')}`);
  await page.getByLabel('Email').fill(email);
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await expect(page).toHaveURL(/\/recovery\?returnUrl=/);
  await expect(page.getByLabel('Email')).toHaveValue(email);
  await page.getByLabel('Email').fill('not an address');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await expect(page.getByText('Incorrect email')).toBeVisible();
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Send the code' }).click();

  const code = page.getByLabel('Verification code');
  await expect(code).toBeVisible();
  await expect(page.getByText(`We sent an email to ${email}`)).toBeVisible();
  await noSidewaysScroll(page);
  const submit = page.getByRole('button', { name: 'Set the password and log in' });
  await submit.click();
  for (const text of ['Verification code is required', 'Password is required', 'Please repeat the password'])
    await expect(page.getByText(text)).toBeVisible();
  const mailed = await mailedCode(platform.url, email);
  await typeCode(page, mailed === '00000000' ? '00000001' : '00000000');
  await fillNew(page, NEW_PASSWORD, 'Something-else-1');
  await submit.click();
  await expect(page.getByText('The passwords do not match')).toBeVisible();
  await fillNew(page, NEW_PASSWORD);
  await submit.click();
  await expect(page.getByText('Incorrect or expired code')).toBeVisible();
  await fillNew(page, 'Password123');
  await code.fill(mailed);
  await submit.click();
  await expect(page.getByText('This password is too common. Choose another one.')).toBeVisible();
  await fillNew(page, PASSWORD);
  await submit.click();
  await expect(page.getByText('A new password must differ from the current one')).toBeVisible();
  // Whoever comes back from their mail by a reload goes on where they were.
  await page.reload();
  await expect(page.getByText(`We sent an email to ${email}`)).toBeVisible();
  await code.fill(mailed);
  await fillNew(page, NEW_PASSWORD);
  await submit.click();
  await expect(page.getByText('Password changed!')).toBeVisible();
  await expect(page).toHaveURL(/\/profile\/account$/);

  const change = page.getByRole('button', { name: 'Change password' });
  await page.getByLabel('Current password', { exact: true }).fill('Wrong-guess-1');
  await fillNew(page, LATER_PASSWORD);
  await change.click();
  await expect(page.getByText('Incorrect password')).toBeVisible();
  await page.getByLabel('Current password', { exact: true }).fill(NEW_PASSWORD);
  await change.click();
  await expect(page.getByText('Password changed!').last()).toBeVisible();
  await expect(page.getByLabel('Current password', { exact: true })).toHaveValue('');
  await noSidewaysScroll(page);

  await page.evaluate(() => localStorage.clear());
  await page.goto(`${platform.url}/sign-in`);
  await page.getByTestId('language-ru').click();
  await expect(page.getByRole('link', { name: 'Забыли пароль?' })).toBeVisible();
  await page.getByTestId('language-en').click();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(LATER_PASSWORD);
  await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
  await expect(page).toHaveURL(/\/models$/);
});

test('codes that are late or used open nothing, a known address is told by mail alone, and a first password is added', async ({
  page,
}) => {
  // On a platform of its own, whose database makes codes late, and takes a password away as no way in does.
  const app = await startTestApp();
  const email = `gertrude-${Date.now()}@example.com`;
  const refused = page.getByText('Incorrect or expired code');
  try {
    await page.goto(`${app.url}/sign-up`);
    await sendSignUp(page, email);
    await app.ctx.db.updateTable('pending_registration').set({ expires_at: new Date() }).execute();
    await typeCode(page, await mailedCode(app.url, email));
    await expect(refused).toBeVisible();
    await page.getByRole('link', { name: 'Sign up again' }).click();
    await sendSignUp(page, email);
    const used = await mailedCode(app.url, email);
    await typeCode(page, used);
    await sendSignUpForm(page);
    await expect(page).toHaveURL(/\/models$/);

    await page.evaluate(() => localStorage.clear());
    await page.goto(`${app.url}/confirmation?email=${encodeURIComponent(email)}`);
    await typeCode(page, used);
    await expect(refused).toBeVisible();
    await page.getByRole('link', { name: 'Sign up again' }).click();
    await sendSignUp(page, email);
    await expect(page.getByText(`We sent an 8-digit code to ${email}`)).toBeVisible();
    const [newest] = await mailsTo(app.url, email);
    expect(newest?.subject).toBe('You already have a Stagi account');

    await page.getByRole('link', { name: 'Sign up again' }).click();
    await page.getByRole('main').getByRole('link', { name: 'Log in' }).click();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    // The page before has a field of that name too.
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('New password');
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send the code' }).click();
    await expect(page.getByText(`We sent an email to ${email}`)).toBeVisible();
    await app.ctx.db.updateTable('password_reset').set({ expires_at: new Date() }).execute();
    await page.getByLabel('Verification code').fill(await mailedCode(app.url, email));
    await fillNew(page, NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set the password and log in' }).click();
    await expect(refused).toBeVisible();
    await noSidewaysScroll(page);
    const later = new Date(Date.now() + 600_000);
    await app.ctx.db.updateTable('password_reset').set({ expires_at: later }).execute();
    await page.getByRole('button', { name: 'Set the password and log in' }).click();
    await expect(page.getByText('Password changed!')).toBeVisible();
    await expect(page).toHaveURL(/\/models$/);

    await app.ctx.db.updateTable('app_user').set({ password_hash: null }).where('email', '=', email).execute();
    await page.goto(`${app.url}/profile/account`);
    await fillNew(page, LATER_PASSWORD);
    await page.getByRole('button', { name: 'Add password' }).click();
    await expect(page.getByTestId('step-up').getByText(`We sent an 8-digit code to ${email}`)).toBeVisible();
    await typeCode(page, await mailedCode(app.url, email));
    await expect(page.getByText('Password added!')).toBeVisible();
    await expect(page.getByLabel('Current password')).toBeVisible();
  } finally {
    await app.close();
  }
});

async function sendSignUp(page: Page, email: string): Promise<void> {
  await page.getByLabel('Name').fill('Gertrude Goes');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Repeat the password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign up', exact: true }).last().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Check your email');
}

async function fillNew(page: Page, password: string, again = password): Promise<void> {
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByLabel('Repeat the new password').fill(again);
}

async function noSidewaysScroll(page: Page): Promise<void> {
  expect(await sideways(page)).toBeLessThanOrEqual(0);
}
