import type { Page } from '@playwright/test';
import { LANGUAGES } from '@stagi/contract/languages.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { SCREENS } from '@stagi/web/src/features/home/screens.ts';
import { chooseTheme, expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openPublic } from './openPublic.ts';
import { addCloud, CPU, cloudsOf, GPUS } from './testCloud.ts';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());
test.afterEach(() => cloudsOf(app).clear());

const openHome = (page: Page) => openPublic(page, app.ctx.config.appOrigin);

test('where no GPU can be rented, the page shows which models fit one, without prices', async ({ page }) => {
  addCloud(app, [CPU, { ...GPUS[0]!, available: 0 }]);
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
  addCloud(app, [], {
    readiness: async () => ({ state: 'preparing', step: 'Building', progress: 0.5, since: new Date() }),
  });
  await openHome(page);
  await expect(page.getByText('The first offers are being prepared.')).toBeVisible();
  cloudsOf(app).clear();
  addCloud(app, [CPU]);
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
