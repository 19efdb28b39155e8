import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { LANGUAGES } from '@stagi/contract/languages.ts';
import type { Provider, ProviderOffer } from '@stagi/server/src/providers/provider.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { SCREENS } from '@stagi/web/src/features/home/screens.ts';
import { chooseTheme, expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openPublic } from './openPublic.ts';
import { openAs } from './people.ts';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());
test.afterEach(() => clouds().clear());

const clouds = () => app.ctx.providers as Map<string, Provider>;

const CPU: ProviderOffer = {
  id: 'cpu',
  region: 'eu-1',
  cpu: { name: 'EPYC 9354', cores: 8 },
  ramGb: 32,
  gpu: null,
  disk: { type: 'NVMe', sizeGb: 200 },
  pricePerHour: 200_000n,
  stoppedPricePerHour: 20_000n,
  spot: false,
  available: 9,
};
const GPUS: ProviderOffer[] = (
  [
    ['L4', 1, 24, 700_000n],
    ['L40S', 1, 48, 1_400_000n],
    ['H100', 1, 80, 2_900_000n],
    ['H200', 1, 141, 3_800_000n],
    ['H100', 8, 80, 22_000_000n],
    ['B200', 8, 180, 44_000_000n],
  ] as const
).map(([name, count, memoryGb, pricePerHour]) => ({
  ...CPU,
  id: `${name}-${count}`,
  cpu: { name: 'EPYC 9554', cores: 16 * count },
  ramGb: 128 * count,
  gpu: { name, count, memoryGb },
  pricePerHour,
  available: count === 8 ? 1 : 9,
}));

/** A cloud with these offers, which is not simulated. */
function addCloud(offers: ProviderOffer[], change: Partial<Provider> = {}): void {
  clouds().set('test', {
    name: 'test',
    title: 'Test cloud',
    traits: { canStop: true, billedWhenStopped: true, readiness: 'daemon', hostUsername: 'root', deadlineMs: 60_000 },
    readiness: async () => ({ state: 'ready' }),
    offers: async () => offers,
    start: () => Promise.reject(new Error('nothing is rented here')),
    getMachine: async () => null,
    list: async () => [],
    terminate: async () => {},
    ...change,
  });
}

async function openHome(page: Page): Promise<void> {
  await openPublic(page, app.ctx.config.appOrigin);
}

test('a visitor sees what servers cost here, and signs up to rent one', async ({ page }) => {
  addCloud([...GPUS, CPU, { ...CPU, id: 'gone', ramGb: 64, available: 0 }]);
  await page.addInitScript(noteWhatMoves);
  await openHome(page);
  const rows = page.getByTestId('home-offers').locator('tbody tr');
  await expect(rows).toHaveCount(7);
  await expect(rows.first()).toContainText('1 × L4 · 24 GB');
  await expect(rows.first()).toContainText('Test cloud eu-1');
  await expect(rows.first()).toContainText('0.805 STAGI/h');
  await expect(rows.last()).toContainText('8 cores, 32 GB, no GPU');
  expect(await page.evaluate(() => Number(document.documentElement.dataset.moved ?? 0))).toBeLessThan(0.01);
  await expectAccessible(page, 'home');
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await sideways(page)).toBe(0);
  await page.getByRole('link', { name: 'Sign up to rent' }).click();
  await expect(page).toHaveURL(/\/sign-up\?returnUrl=%2Fcloud%2Fmarketplace$/);
});

test('the command works as it is copied', async ({ page, context }) => {
  addCloud([...GPUS, CPU]);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openHome(page);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Copied' })).toBeAttached();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toBe(await page.getByTestId('home-snippet').textContent());
  expect(command).toContain(app.ctx.config.appOrigin);
  // Asynchronously: the platform runs in this process.
  const { stdout } = await promisify(execFile)('bash', ['-c', command]);
  const printed = stdout.trim().split('\n');
  expect(printed).toHaveLength(7);
  expect(printed[0]).toBe('0.805\t1 x L4\t16 cores, 128 GB');
  expect(printed.at(-1)).toBe('0.23\tCPU only\t8 cores, 32 GB');
});

test('where no GPU can be rented, the page shows which models fit one, without prices', async ({ page }) => {
  addCloud([CPU, { ...GPUS[0]!, available: 0 }]);
  await openHome(page);
  await expect(page.getByTestId('home-offers').locator('tbody tr')).toHaveCount(1);
  const models = page.getByTestId('home-models');
  await expect(models.locator('tbody tr')).toHaveCount(4);
  await expect(models).not.toContainText('STAGI');
  await expectAccessible(page, 'home without GPUs');
  await models.getByRole('row', { name: 'H100' }).getByRole('link').first().click();
  await expect(page).toHaveURL(/\/models\?gpu=h100-sxm$/);
});

test('it says when prices are being prepared, are missing or cannot be loaded', async ({ page }) => {
  await openHome(page);
  await expect(page.getByText('No server can be rented here at the moment.')).toBeVisible();
  addCloud([], { readiness: async () => ({ state: 'preparing', step: 'Building', progress: 0.5, since: new Date() }) });
  await openHome(page);
  await expect(page.getByText('The first offers are being prepared.')).toBeVisible();
  clouds().clear();
  addCloud([CPU]);
  // By itself.
  await expect(page.getByTestId('home-offers')).toBeVisible();

  let fails = true;
  await page.route('**/public-offer/list', (route) => (fails ? route.fulfill({ status: 403 }) : route.continue()));
  await openHome(page);
  await expect(page.getByRole('alert')).toContainText('The prices could not be loaded');
  fails = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByTestId('home-offers')).toBeVisible();
});

test('each screenshot is of the page’s theme and language, and only that one is loaded', async ({ browser }) => {
  for (const [language, locale] of [
    ['en', 'en-GB'],
    ['cn', 'zh-CN'],
  ] as const) {
    const page = await (await browser.newContext({ locale, colorScheme: 'dark' })).newPage();
    const loaded: string[] = [];
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith('/screens/') && response.ok()) loaded.push(pathname);
    });
    await openHome(page);
    for (const theme of ['dark', 'light'] as const) {
      await chooseTheme(page, theme);
      for (const name of SCREENS) {
        const picture = page.locator(`img[src="/screens/${name}-${language}-${theme}.webp"]`);
        await picture.scrollIntoViewIfNeeded();
        await expect(picture).toBeVisible();
        await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1440);
      }
      const expected = SCREENS.map((name) => `/screens/${name}-${language}-${theme}.webp`);
      expect([...new Set(loaded)].toSorted()).toEqual(expected.toSorted());
      loaded.length = 0;
    }
    await page.context().close();
  }
  expect(LANGUAGES).toHaveLength(4);
});

test('signed-in people are led to the models', async ({ browser }) => {
  const page = await openAs(browser, app.ctx.config.appOrigin, await app.signUp('Ada'), '/');
  await expect(page).toHaveURL(/\/models$/);
});

/** Runs in the page: adds up what moved without being asked to (the measure of layout shift). */
function noteWhatMoves(): void {
  let moved = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) moved += (entry as PerformanceEntry & { value: number }).value;
    document.documentElement.dataset.moved = String(moved);
  }).observe({ type: 'layout-shift', buffered: true });
}
