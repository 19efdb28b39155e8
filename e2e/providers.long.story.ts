import { test as base, type Page } from '@playwright/test';
import { type IdentityProviderServer, startIdentityProvider } from '@stagi/server/src/testing/identityProvider.ts';
import { mailedCode } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect } from './fixtures.ts';
import { sendSignUpForm } from './people.ts';
import { type Platform, startPlatform } from './platform.ts';

/** A platform that lets people in through a real provider on this machine. */
const test = base.extend<object, { there: IdentityProviderServer; platform: Platform }>({
  there: [
    // biome-ignore lint/correctness/noEmptyPattern: a fixture without others is written so
    async ({}, use) => {
      const there = await startIdentityProvider();
      await use(there);
      await there.close();
    },
    { scope: 'worker' },
  ],
  platform: [
    async ({ there }, use, worker) => {
      const env = { LOCAL_CLOUD: 'off', ...there.env };
      const platform = await startPlatform(`e2e${worker.workerIndex}`, env);
      there.open(platform.url);
      await use(platform);
      await platform.stop();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
});

test('somebody comes by Google, tells who they are, comes again, connects GitHub; a taken e-mail is told', async ({
  page,
  platform,
  there,
}) => {
  const login = `ada-${Date.now()}`;
  const email = `${login}@example.com`;
  there.accounts.set(login, { id: Date.now(), email, name: 'Ada Lovelace' });
  there.accounts.set(`${login}-twin`, { id: Date.now() + 1, email });
  const heading = page.getByRole('heading', { level: 1 });

  // The first time, on a phone: the form comes between, and keeps coming until it is sent.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${platform.url}/sign-in?returnUrl=${encodeURIComponent('/profile/account')}`);
  await expect(page.getByTestId('continue-github')).toBeVisible();
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await page.getByTestId('continue-google').click();
  await page.getByRole('button', { name: `Log in as ${login}`, exact: true }).click();
  await expect(heading).toHaveText('About you');
  await expect(page).toHaveURL(`${platform.url}/sign-up/form?returnUrl=%2Fprofile%2Faccount`);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await expectAccessible(page, 'sign-up form');
  await expect(page.getByLabel('Name')).toHaveValue('Ada Lovelace');
  const send = page.getByRole('button', { name: 'Continue', exact: true });
  await send.click();
  await expect(page.getByText('Phone is required')).toBeVisible();
  await page.getByLabel('Phone').fill('020 7946 0000');
  await send.click();
  await expect(page.getByText('Enter a valid phone number')).toBeVisible();
  await page.goto(`${platform.url}/profile/ssh`);
  await expect(page).toHaveURL(/\/sign-up\/form\?returnUrl=%2Fprofile%2Fssh$/);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByLabel('Company').fill('Analytical Engines');
  await page.getByRole('combobox', { name: 'Purpose' }).click();
  await page.getByRole('option', { name: 'Research' }).click();
  await sendSignUpForm(page);
  await expect(heading).toHaveText('SSH keys');
  expect(await page.evaluate(() => localStorage.getItem('authType'))).toBe('google');
  expect(await page.evaluate(() => localStorage.getItem('userMetaData'))).toContain(email);

  // The second time it leads straight in, to where one wanted to go.
  await logOut(page);
  await page.goto(`${platform.url}/sign-in?returnUrl=${encodeURIComponent('/profile/account#x')}`);
  await page.getByTestId('continue-google').click();
  await page.getByRole('button', { name: `Log in as ${login}`, exact: true }).click();
  await expect(heading).toHaveText('Account');
  await expect(page).toHaveURL(`${platform.url}/profile/account#x`);

  // Another way in beside it; the only one cannot be taken away.
  const google = page.getByTestId('connected-google');
  const github = page.getByTestId('connected-github');
  await expect(google.getByText(email)).toBeVisible();
  await expect(google.getByRole('button')).toHaveAttribute('aria-disabled', 'true');
  await github.getByRole('button', { name: 'Connect GitHub' }).click();
  const asked = page.getByTestId('step-up');
  await expect(asked.getByText(`We sent an 8-digit code to ${email}`)).toBeVisible();
  await asked.getByLabel('Verification code').fill(await mailedCode(platform.url, email));
  await page.getByRole('button', { name: `Log in as ${login}`, exact: true }).click();
  await expect(page.getByText('GitHub is connected')).toBeVisible();
  await expect(page).toHaveURL(`${platform.url}/profile/account`);
  await google.getByRole('button', { name: 'Disconnect Google' }).click();
  await page.getByTestId('confirm-submit').click();
  await expect(page.getByText('Google is disconnected')).toBeVisible();
  await expect(google.getByText('Not connected')).toBeVisible();
  await expect(github.getByRole('button', { name: 'Disconnect GitHub' })).toHaveAttribute('aria-disabled', 'true');

  // Somebody else's GitHub account with the same e-mail gets nowhere.
  await logOut(page);
  await page.goto(`${platform.url}/sign-in`);
  await page.getByTestId('continue-github').click();
  await page.getByRole('button', { name: `Log in as ${login}-twin`, exact: true }).click();
  await expect(page.getByRole('alert')).toHaveText(
    'This email is taken: its account logs in with another GitHub account. Log in with that one, or with your password.',
  );
  await expect(page).toHaveURL(`${platform.url}/auth/github`);
  await expectAccessible(page, 'a refused login');
  await page.setViewportSize({ width: 360, height: 740 });
  await expect(page.getByRole('alert')).toBeVisible();
  expect(await sideways(page)).toBeLessThanOrEqual(0);

  // Nor does a code that this tab did not ask for, or somebody who changes their mind.
  await page.getByRole('link', { name: 'Back to login' }).click();
  await page.getByTestId('continue-google').click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(page.getByRole('alert')).toHaveText('You canceled the login with Google.');
  await page.goto(`${platform.url}/auth/github?code=somebodys&state=somebodys`);
  await expect(page.getByRole('alert')).toHaveText('This login has expired or was already used. Try again.');
  expect(await page.evaluate(() => localStorage.getItem('accessToken'))).toBeNull();
});

async function logOut(page: Page): Promise<void> {
  await page.getByTestId('profile-menu').click();
  await page.getByText('Log out').click();
  await expect(page.getByRole('link', { name: 'Log in' }).first()).toBeVisible();
}
