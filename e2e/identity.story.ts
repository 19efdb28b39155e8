import type { Page } from '@playwright/test';
import { mailedCode, PASSWORD } from '@stagi/server/src/testing/person.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { enterAsNewPerson, signUpInBrowser, typeCode } from './people.ts';

const PHONE = { width: 360, height: 740 };

test('somebody signs up with the mailed code, lands on the models, logs out and in again', async ({
  page,
  platform,
}) => {
  const { email } = await signUpInBrowser(page, platform, 'Grace Hopper');
  await expect(page).toHaveURL(/\/models$/);
  await page.getByTestId('profile-menu').click();
  await expect(page.getByText(email)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Grace Hopper’s workspace Owner' })).toBeVisible();
  await page.getByText('Log out').click();
  await expect(page.getByRole('link', { name: 'Log in' }).first()).toBeVisible();
  expect(
    await page.evaluate(() =>
      ['accessToken', 'refreshToken', 'authType', 'userMetaData'].map((key) => localStorage.getItem(key)),
    ),
  ).toEqual([null, null, null, null]);

  await page.goto(`${platform.url}/cloud/containers?status=running#x`);
  await expect(page).toHaveURL(/\/sign-in\?returnUrl=/);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
  await expect(page).toHaveURL(/\/cloud\/containers\?status=running#x$/);
});

test('bad input is refused at its field and nothing typed is lost, on a phone', async ({ page, platform }) => {
  await page.setViewportSize(PHONE);
  await page.goto(`${platform.url}/sign-up`);
  await page.getByRole('button', { name: 'Sign up', exact: true }).last().click();
  for (const text of ['Name is required', 'Email is required', 'Password is required', 'Please repeat the password'])
    await expect(page.getByText(text)).toBeVisible();
  const password = page.getByLabel('Password', { exact: true });
  await expect(password).toHaveAttribute('type', 'password');
  await expect(password).toHaveAttribute('autocomplete', 'new-password');
  const mayPaste = await password.evaluate((field) =>
    field.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true })),
  );
  expect(mayPaste).toBe(true);
  await page.getByLabel('Name').fill('Bad');
  await page.getByLabel('Email').fill('not an address');
  await page.getByLabel('Password', { exact: true }).fill('weak');
  await page.getByRole('button', { name: 'Sign up', exact: true }).last().click();
  await expect(page.getByText('Incorrect email')).toBeVisible();
  await expect(
    page.getByText('Password must be at least 8 characters with digits and upper and lower case letters'),
  ).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Bad');
  await noSidewaysScroll(page);

  const email = `wrong-code-${Date.now()}@example.com`;
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  const repetition = page.getByLabel('Repeat the password');
  await repetition.fill(`${PASSWORD}x`);
  await page.getByRole('button', { name: 'Sign up', exact: true }).last().click();
  await expect(page.getByText('The passwords do not match')).toBeVisible();
  await expect(repetition).toBeFocused();
  await expect(page).toHaveURL(/\/sign-up$/);
  await repetition.fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign up', exact: true }).last().click();
  await expect(page).toHaveURL(/\/confirmation/);
  const code = await mailedCode(platform.url, email);
  await typeCode(page, code === '00000000' ? '00000001' : '00000000');
  await expect(page.getByText('Incorrect or expired code')).toBeVisible();
  await noSidewaysScroll(page);

  await page.goto(`${platform.url}/sign-in`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
  await expect(page.getByText('Incorrect email or password')).toHaveCount(1);
  await expect(page.locator('input[aria-invalid=true]')).toHaveCount(2);
  await expect(page.getByLabel('Email')).toHaveValue(email);
  await noSidewaysScroll(page);
});

test('a return address never leads to another site', async ({ page, platform }) => {
  const { email } = await signUpInBrowser(page, platform);
  for (const bad of ['//evil.example/x', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)']) {
    await page.evaluate(() => localStorage.clear());
    await page.goto(`${platform.url}/sign-in?returnUrl=${encodeURIComponent(bad)}`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
    await expect(page).toHaveURL(`${platform.url}/models`);
  }
});

test('unknown pages, pages without the permission and signed-out sessions say so', async ({ page, platform }) => {
  await page.goto(`${platform.url}/no-such-page`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(/not found/i);
  await page.goto(`${platform.url}/403`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await enterAsNewPerson(page, platform);
  await page.goto(`${platform.url}/cloud/instances/999999`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(/not found/i);
});

test('the interface speaks four languages and switches without a reload', async ({ page, platform }) => {
  await page.goto(`${platform.url}/sign-in`);
  const english = await page.getByRole('heading', { level: 1 }).textContent();
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  const seen = new Set([english]);
  for (const language of ['cn', 'ru', 'tr']) {
    await page.getByTestId(`language-${language}`).click();
    const heading = page.getByRole('heading', { level: 1 });
    await expect.poll(async () => seen.has(await heading.textContent()), language).toBe(false);
    seen.add(await heading.textContent());
  }
  expect(seen.size).toBe(4);
  expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true);
});

test.describe('on a phone', () => {
  test.use({ viewport: PHONE, hasTouch: true });

  test('the panel leads everywhere and no page is wider than the screen', async ({ page, platform }) => {
    await page.goto(platform.url);
    await noSidewaysScroll(page);
    await enterAsNewPerson(page, platform);
    for (const path of [
      '/cloud/instances',
      '/cloud/marketplace',
      '/cloud/self-instances',
      '/cloud/containers',
      '/profile/account',
      '/profile/ssh',
    ]) {
      await page.goto(platform.url + path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await noSidewaysScroll(page);
    }
    await page.getByTestId('open-panel').click();
    await expect(page.getByRole('dialog').getByText('Log out')).toBeVisible();
    await page.getByRole('dialog').getByText('Cloud', { exact: true }).click();
    await expect(page.getByRole('dialog')).toBeHidden();
  });
});

async function noSidewaysScroll(page: Page): Promise<void> {
  expect(await sideways(page)).toBeLessThanOrEqual(0);
}
