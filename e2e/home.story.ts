import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openPublic } from './openPublic.ts';
import { openAs } from './people.ts';
import { addCloud, CPU, cloudsOf, GPUS } from './testCloud.ts';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());
test.afterEach(() => cloudsOf(app).clear());

const openHome = (page: Page) => openPublic(page, app.ctx.config.appOrigin);

test('a visitor sees what servers cost here, and signs up to rent one', async ({ page }) => {
  addCloud(app, [...GPUS, CPU, { ...CPU, id: 'gone', ramGb: 64, available: 0 }]);
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
  addCloud(app, [...GPUS, CPU]);
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
