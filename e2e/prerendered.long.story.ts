import type { BrowserContext, Page } from '@playwright/test';
import { PASSWORD } from '@stagi/server/src/testing/person.ts';
import { expect, test } from './fixtures.ts';
import { signUpInBrowser } from './people.ts';

/** Delays the app's code until `release` is called. Until then the page is only its prerendered markup. */
async function delayCode(context: BrowserContext): Promise<{ release(): void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await context.route('**/assets/*.js', async (route) => {
    await promise;
    await route.continue();
  });
  return { release: resolve };
}

function consoleProblemsOf(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  return problems;
}

test('public pages are prerendered in the browser’s language and hydrated without a change', async ({
  browser,
  platform,
}) => {
  for (const [locale, sentence] of [
    ['en-GB', 'Log in'],
    ['ru-RU', 'Войти'],
  ] as const) {
    const context = await browser.newContext({ locale });
    const page = await context.newPage();
    const problems = consoleProblemsOf(page);
    const hosts = new Set<string>();
    const ofMembers: string[] = [];
    page.on('request', (request) => {
      const { origin, pathname } = new URL(request.url());
      hosts.add(origin);
      if (/^\/assets\/app-.*\.js$/.test(pathname)) ofMembers.push(page.url());
    });
    const code = await delayCode(context);
    for (const path of ['/sign-in', '/sign-up', '/contact', '/']) {
      await page.goto(platform.url + path, { waitUntil: 'commit' });
      await expect(page.locator('#root').getByText(sentence, { exact: true }).first()).toBeVisible();
    }
    const heading = await page.locator('h1').elementHandle();
    code.release();
    await expect(page.locator('html[data-ready]')).toBeAttached();
    expect(await heading?.evaluate((element) => element.isConnected)).toBe(true);
    for (const path of ['/', '/sign-in', '/sign-up', '/models', '/contact']) {
      await page.goto(platform.url + path, { waitUntil: 'networkidle' });
      await expect(page.locator('html[data-ready]')).toBeAttached();
    }
    expect(ofMembers, 'visitors load no code of the signed-in pages, also not at idle').toEqual([]);
    for (const path of ['/confirmation?email=ada%40example.com', '/403', '/expired-invite', '/contact?topic=demo']) {
      await page.goto(platform.url + path, { waitUntil: 'networkidle' });
      await expect(page.locator('html[data-ready]')).toBeAttached();
    }
    expect([...hosts], 'everything comes from our own host').toEqual([platform.url]);
    expect(problems).toEqual([]);
    // The browser itself reports the status of this one in its console.
    expect((await page.goto(`${platform.url}/404`, { waitUntil: 'networkidle' }))?.status()).toBe(404);
    await expect(page.locator('html[data-ready]')).toBeAttached();
    await expect(page.getByRole('main')).toContainText('404');
    expect([...hosts]).toEqual([platform.url]);
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([]);
    expect(ofMembers, 'also not for the not-found page').toEqual([]);
    await context.close();
  }
});

test('a form filled in before the code runs keeps its text, and its submit stays out of the address', async ({
  browser,
  platform,
}) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const { email } = await signUpInBrowser(page, platform, 'Early Bird');
  await page.evaluate(() => localStorage.clear());

  const code = await delayCode(context);
  await page.goto(`${platform.url}/sign-in`, { waitUntil: 'commit' });
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  const addresses: string[] = [];
  page.on('request', (request) => request.isNavigationRequest() && addresses.push(request.url()));
  await page.keyboard.press('Enter');
  await page.locator('form').evaluate((form: HTMLFormElement) => form.requestSubmit());
  code.release();
  await expect(page.locator('html[data-ready]')).toBeAttached();
  await expect(page.getByLabel('Email')).toHaveValue(email);
  await expect(page.getByLabel('Password', { exact: true })).toHaveValue(PASSWORD);
  expect(addresses).toEqual([]);
  expect(page.url()).toBe(`${platform.url}/sign-in`);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await expect(page).toHaveURL(/\/models$/);

  // Signed in, the start page of visitors is never seen.
  await page.goto(`${platform.url}/`, { waitUntil: 'commit' });
  await expect(page.getByTestId('profile-menu')).toBeVisible();
  await context.close();
});

test('the code of a page is asked for once the page is painted', async ({ browser, platform }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const code: string[] = [];
  page.on('request', (request) => /\/assets\/.*\.js$/.test(request.url()) && code.push(request.url()));
  const styles = new Promise<() => void>((held) => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    void context.route(/\.css$/, async (route) => {
      held(release);
      await released;
      await route.continue();
    });
  });
  await page.goto(`${platform.url}/docs`, { waitUntil: 'commit' });
  const release = await styles;
  await page.waitForFunction(() => document.readyState !== 'loading', null, { polling: 50 });
  expect(code).toEqual([]);
  release();
  await expect(page.locator('html[data-ready]')).toBeAttached();
  expect(code.length).toBeGreaterThan(2);
  await context.close();
});

const MODEL = '/models/llama-3.1-8b-instruct';

test('the catalogue can be read before the code runs, and without any; what comes then moves nothing', async ({
  browser,
  platform,
}) => {
  for (const [locale, title, query] of [
    ['en-GB', 'Models', ''],
    ['zh-CN', '模型', '?lang=cn'],
    ['ru-RU', 'Модели', '?lang=ru'],
    ['tr-TR', 'Modeller', '?lang=tr'],
  ] as const) {
    const still = await browser.newContext({ locale, javaScriptEnabled: false });
    const plain = await still.newPage();
    await plain.goto(`${platform.url}/models`);
    await expect(plain.getByRole('heading', { level: 1 })).toHaveText(title);
    await expect(plain.getByTestId('model-card')).toHaveCount(24);
    await plain.goto(platform.url + MODEL);
    await expect(plain).toHaveTitle('Llama 3.1 8B Instruct · Stagi');
    await expect(plain.getByRole('heading', { level: 1 })).toHaveText('Llama 3.1 8B Instruct');
    const canonical = plain.locator('link[rel="canonical"]');
    await expect(canonical).toHaveAttribute('href', platform.url + MODEL + query);
    await still.close();
  }

  const context = await browser.newContext();
  await context.addInitScript(noteWhatMoves);
  const page = await context.newPage();
  const problems = consoleProblemsOf(page);
  for (const [path, call] of [
    ['/models', '/frontend-api/model/list'],
    [MODEL, '/frontend-api/model/view'],
    [`${MODEL}?id=meta-llama%2FLlama-3.1-8B-Instruct`, '/frontend-api/model/view'],
  ] as const) {
    const code = await delayCode(context);
    await page.goto(platform.url + path, { waitUntil: 'commit' });
    const heading = page.getByRole('heading', { level: 1 });
    await expect(heading).toBeVisible();
    const element = await heading.elementHandle();
    const title = await page.title();
    const refreshed = page.waitForResponse((response) => response.url().endsWith(call));
    code.release();
    await expect(page.locator('html[data-ready]')).toBeAttached();
    await (await refreshed).finished();
    expect(await element?.evaluate((node) => node.isConnected), path).toBe(true);
    expect(await page.title()).toBe(title);
    await context.unrouteAll();
    expect(await page.evaluate(() => Number(document.documentElement.dataset.moved ?? 0)), path).toBeLessThan(0.01);
  }
  expect(problems).toEqual([]);

  const missing = await page.goto(`${platform.url}/models/no-such-model`);
  expect(missing?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('This model is not in the catalogue');
  await context.close();
});

/** Runs in the page: adds up what moved without being asked to (the measure of layout shift). */
function noteWhatMoves(): void {
  let moved = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) moved += (entry as PerformanceEntry & { value: number }).value;
    document.documentElement.dataset.moved = String(moved);
  }).observe({ type: 'layout-shift', buffered: true });
}
