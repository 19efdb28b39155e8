import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { anInvite, aSignUpLink, makeOperator } from '@stagi/server/src/testing/factories.ts';
import { httpSender, mailedCode, PASSWORD, signUp } from '@stagi/server/src/testing/person.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openPublic } from './openPublic.ts';
import { section, walkWidths } from './operatorSections.ts';
import { openAs, storedWorkspace, typeCode } from './people.ts';

const UNUSABLE = 'This invitation can no longer be used. Ask the sender for a new one.';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ SIGN_UP: 'invite', SIGN_UP_PHONE: 'optional' })));
});
test.afterAll(() => stop?.());

test('where people need an invitation, an operator makes a link and somebody signs up with it', async ({
  page,
  browser,
}) => {
  const olga = await anOperator();
  const desk = await openAs(browser, app.url, olga, '/admin/users');

  await test.step('nothing offers a sign-up, and the page says what is needed', async () => {
    await openPublic(page, app.url);
    await expect(page.getByRole('banner').getByRole('link', { name: 'Log in' })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Sign up', exact: true })).toHaveCount(0);
    await page.goto(`${app.url}/sign-up`);
    await expect(page.getByText('You need an invitation to sign up here.')).toBeVisible();
    await expect(page.getByLabel('Email')).toHaveCount(0);
    await walkWidths(page, 'a sign-up that needs an invitation');
  });

  const link = await test.step('the operator makes a link, shown once', async () => {
    await section(desk, 'Sign-up links');
    await expect(desk.getByText('No sign-up links yet')).toHaveCount(0);
    await desk.getByTestId('sign-up-link-create').click();
    const dialog = desk.getByTestId('sign-up-link-dialog');
    await dialog.getByLabel('Note').fill('For the lab');
    await dialog.getByTestId('sign-up-link-uses').fill('');
    await dialog.getByTestId('sign-up-link-submit').click();
    await expect(dialog.getByText('Enter a number')).toBeVisible();
    await dialog.getByTestId('sign-up-link-uses').fill('1');
    await walkWidths(desk, 'a new sign-up link');
    await dialog.getByTestId('sign-up-link-submit').click();
    const made = ((await dialog.getByTestId('sign-up-link-link').locator('code').textContent()) ?? '').trim();
    await dialog.getByTestId('sign-up-link-done').click();
    await expect(desk.getByTestId('sign-up-link-row').filter({ hasText: 'For the lab' })).toContainText('0 of 1');
    return made;
  });

  await test.step('somebody signs up with it, without a phone number', async () => {
    await page.goto(link);
    await fillSignUp(page, 'vera@example.com');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('About you');
    await walkWidths(page, 'the form after the first login');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await expect(page).toHaveURL(/\/models$/);
  });

  await test.step('the link is used up, for the operator and for the next visitor', async () => {
    await desk.reload();
    const row = desk.getByTestId('sign-up-link-row').filter({ hasText: 'For the lab' });
    await expect(row).toContainText('1 of 1');
    await walkWidths(desk, 'sign-up links');
    const next = await (await browser.newContext()).newPage();
    await next.goto(link);
    await expect(next.getByText(UNUSABLE)).toBeVisible();
    await walkWidths(next, 'a sign-up link that is used up');
  });
});

test('a join link lets somebody sign up into its workspace', async ({ page }) => {
  const owner = await anOperator();
  await owner.client(api.clients.edit, { newName: 'Lab of Olga' });
  const { code } = await anInvite(app.ctx, owner, { role: 'Developer' });
  await page.goto(`${app.url}/join-client/${code}`);
  await page.getByTestId('join-sign-up').click();
  await fillSignUp(page, 'grace@example.com');
  await page.getByLabel('Phone').fill('12');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page.getByText('Enter a valid phone number')).toBeVisible();
  await page.getByLabel('Phone').fill('');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL(/\/models$/);
  await expect.poll(() => storedWorkspace(page, { email: 'grace@example.com' })).toBe('Lab of Olga');
});

async function anOperator() {
  const { code: invite } = await aSignUpLink(app.ctx);
  const email = `${crypto.randomUUID()}@example.com`;
  const olga = await signUp(app.url, httpSender(app.url), { name: 'Olga', email, invite });
  await makeOperator(app.ctx, olga);
  return olga;
}

/** The form and the mailed code. */
async function fillSignUp(page: Page, email: string): Promise<void> {
  await page.getByLabel('Name').fill('Vera');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Repeat the password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign up', exact: true }).click();
  await expect(page).toHaveURL(/\/confirmation/);
  await typeCode(page, await mailedCode(app.url, email));
}
