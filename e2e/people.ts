import { type Browser, expect, type Page } from '@playwright/test';
import { httpSender, mailedCode, PASSWORD, type Person, PHONE, signUp } from '@stagi/server/src/testing/person.ts';
import type { Platform } from './platform.ts';

let people = 0;

const newEmail = (): string => {
  people += 1;
  return `story${people}-${Date.now()}@example.com`;
};

/** Signs somebody up as a user does: form, mailed code, signed in. For stories that begin with that; it loads three pages. */
export async function signUpInBrowser(
  page: Page,
  platform: Platform,
  name = 'Ada Lovelace',
): Promise<{ email: string }> {
  const email = newEmail();
  await page.goto(`${platform.url}/sign-up`);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Repeat the password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign up', exact: true }).last().click();
  await expect(page).toHaveURL(/\/confirmation/);
  await typeCode(page, await mailedCode(platform.url, email));
  await sendSignUpForm(page);
  // Past the redirect, which takes the focus along.
  await expect(page).toHaveURL(/\/models$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Models');
  return { email };
}

/** Signs somebody up by calls, and opens the first page of the app with their session. */
export async function enterAsNewPerson(page: Page, { url }: { url: string }, name = 'Ada Lovelace'): Promise<Person> {
  const person = await signUp(url, httpSender(url), { name, email: newEmail() });
  await storeSession(page, url, person);
  await page.goto(`${url}/cloud/instances`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Instances');
  return person;
}

/** The form after the first sign-in, which leads on to where one wanted to go. */
export async function sendSignUpForm(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('About you');
  await page.getByLabel('Phone').fill(PHONE);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
}

/** The code field sends itself once the eighth digit is there. */
export async function typeCode(page: Page, code: string): Promise<void> {
  await page.getByLabel(/code/i).first().click();
  await page.keyboard.type(code);
}

/**
 * A browser of somebody's own, signed in, at `path`; in the workspace of `clientId`, else in their first one. `prepare`
 * gets the page before any of the app runs.
 */
export async function openAs(
  browser: Browser,
  url: string,
  person: Person,
  path: string,
  clientId?: number,
  prepare?: (page: Page) => Promise<void>,
): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await storeSession(page, url, person, clientId);
  await prepare?.(page);
  await page.goto(url + path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  return page;
}

/** As signing in leaves it in the browser, from a page that runs none of the app. */
async function storeSession(page: Page, url: string, person: Person, clientId?: number): Promise<void> {
  await page.goto(`${url}/configuration.json`);
  await page.evaluate(
    ({ tokens: { accessToken, refreshToken }, email, clientId }) => {
      Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' });
      if (clientId !== undefined)
        localStorage.setItem(`activeWorkspace:${email}`, JSON.stringify({ clientId, clientName: '' }));
    },
    { tokens: person.tokens(), email: person.email, clientId },
  );
}

/** The name of the workspace that somebody's browser keeps as the one they are in. */
export const storedWorkspace = (page: Page, { email }: { email: string }): Promise<string> =>
  page.evaluate((key) => JSON.parse(localStorage.getItem(key) ?? '{}').clientName, `activeWorkspace:${email}`);

/** Opens a page with somebody's session, which this page then keeps. */
export async function enter(page: Page, url: string, person: Person, path: string): Promise<void> {
  await page.addInitScript((tokens) => {
    if (localStorage.getItem('refreshToken')) return;
    localStorage.setItem('accessToken', tokens.accessToken);
    localStorage.setItem('refreshToken', tokens.refreshToken);
  }, person.tokens());
  await page.goto(url + path);
}
