import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { makeOperator, markSteppedUp } from '@stagi/server/src/testing/factories.ts';
import { type IdentityProviderServer, startIdentityProvider } from '@stagi/server/src/testing/identityProvider.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { section, walkWidths } from './operatorSections.ts';
import { openAs, sendSignUpForm } from './people.ts';

let lab: IdentityProviderServer;
let guild: IdentityProviderServer;
let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  lab = await startIdentityProvider();
  guild = await startIdentityProvider({ profileIn: 'token' });
  const OPENID_PROVIDERS = JSON.stringify([lab.openId('lab', 'Lab login'), guild.openId('guild', 'Guild')]);
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ OPENID_PROVIDERS, PASSWORD_SIGN_IN: 'off' })));
  for (const provider of [lab, guild]) provider.open(app.ctx.config.appOrigin);
});
test.afterAll(async () => {
  await stop?.();
  for (const provider of [lab, guild]) await provider?.close();
});

test('where passwords are off, somebody comes by a provider of the operator and connects another', async ({
  page,
  browser,
}) => {
  const url = app.ctx.config.appOrigin;
  for (const [provider, login] of [
    [lab, 'vera'],
    [guild, 'vera-of-the-guild'],
  ] as const)
    provider.accounts.set(login, { id: 1, email: 'vera@example.com', name: 'Vera Rubin' });

  await test.step('sign-in, sign-up and recovery show the providers alone', async () => {
    for (const path of ['/sign-in', '/sign-up', '/recovery']) {
      await page.goto(url + path);
      await expect(page.getByTestId('continue-lab')).toHaveText('Continue with Lab login');
      await expect(page.getByTestId('continue-guild')).toBeVisible();
      await expect(page.getByRole('textbox')).toHaveCount(0);
      await walkWidths(page, path.slice(1));
    }
    await expect(page.getByText('Nobody logs in with a password here.')).toBeVisible();
  });

  await test.step('a login that is given up says so', async () => {
    await page.getByTestId('continue-lab').click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await expect(page.getByText('You canceled the login with Lab login.')).toBeVisible();
    await walkWidths(page, 'a canceled login');
    await page.getByRole('link', { name: 'Back to login' }).click();
  });

  await test.step('a new account, with the name that the provider gave', async () => {
    await page.getByTestId('continue-lab').click();
    await page.getByRole('button', { name: 'Log in as vera', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('About you');
    await expect(page.getByLabel('Name')).toHaveValue('Vera Rubin');
    await sendSignUpForm(page);
    await expect(page).toHaveURL(/\/models$/);
  });

  await test.step('the account offers to connect the other one, and no password', async () => {
    await app.ctx.db.updateTable('session').set({ stepped_up_at: new Date() }).execute();
    await page.goto(`${url}/profile/account`);
    const other = page.getByTestId('connected-guild');
    await expect(page.getByTestId('connected-lab')).toContainText('vera@example.com');
    await expect(page.getByRole('heading', { name: 'Password', exact: true })).toHaveCount(0);
    await other.getByRole('button', { name: 'Connect Guild' }).click();
    await page.getByRole('button', { name: 'Log in as vera-of-the-guild', exact: true }).click();
    await expect(page.getByText('Guild is connected')).toBeVisible();
    await expect(other).toContainText('vera@example.com');
    await walkWidths(page, 'connected accounts');
  });

  await test.step('operators see the providers and how somebody logs in', async () => {
    const olga: Person = await app.signUp('Olga');
    await makeOperator(app.ctx, olga);
    await markSteppedUp(app.ctx, olga);
    const desk = await openAs(browser, url, olga, '/admin/users');
    await desk.getByText('Vera Rubin').first().click();
    await expect(desk.getByTestId('user-panel')).toContainText('Guild, Lab login');
    await desk.keyboard.press('Escape');
    await section(desk, 'Site');
    await expect(desk.getByText(`Lab login (lab) → ${url}/auth/openid`)).toBeVisible();
    await walkWidths(desk, 'site');
  });
});
