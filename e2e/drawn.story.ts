import type { BrowserContext, Page } from '@playwright/test';
import { PASSWORD } from '@stagi/server/src/testing/person.ts';
import { expect, test } from './fixtures.ts';
import { signUpInBrowser } from './people.ts';

/** Holds the app's code back until `go` is called: the page is then only what was drawn while it was built. */
async function holdCode(context: BrowserContext): Promise<{ go(): void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await context.route('**/assets/*.js', async (route) => {
    await promise;
    await route.continue();
  });
  return { go: resolve };
}

function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  return complaints;
}

test('public pages are there before their code, in the browser’s language, and are taken over as they are', async ({
  browser,
  platform,
}) => {
  for (const [locale, sentence] of [
    ['en-GB', 'Log in'],
    ['ru-RU', 'Войти'],
  ] as const) {
    const context = await browser.newContext({ locale });
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    const code = await holdCode(context);
    for (const path of ['/sign-in', '/sign-up', '/']) {
      await page.goto(platform.url + path, { waitUntil: 'commit' });
      await expect(page.locator('#root').getByText(sentence, { exact: true }).first()).toBeVisible();
    }
    const heading = await page.locator('h1').elementHandle();
    code.go();
    await expect(page.locator('html[data-ready]')).toBeAttached();
    expect(await heading?.evaluate((element) => element.isConnected)).toBe(true);
    for (const path of ['/sign-in', '/sign-up', '/confirmation?email=ada%40example.com', '/403', '/404']) {
      await page.goto(platform.url + path, { waitUntil: 'networkidle' });
      await expect(page.locator('html[data-ready]')).toBeAttached();
    }
    expect([...hosts], 'everything comes from our own host').toEqual([platform.url]);
    expect(complaints).toEqual([]);
    await context.close();
  }
});

test('what is typed and sent before the code is there is kept and sent', async ({ browser, platform }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const { email } = await signUpInBrowser(page, platform, 'Early Bird');
  await page.evaluate(() => localStorage.clear());

  const code = await holdCode(context);
  await page.goto(`${platform.url}/sign-in`, { waitUntil: 'commit' });
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  code.go();
  await expect(page).toHaveURL(/\/cloud/);

  // Signed in, the start page of visitors is never seen.
  await page.goto(`${platform.url}/`, { waitUntil: 'commit' });
  await expect(page.getByTestId('profile-menu')).toBeVisible();
  await context.close();
});
