import { expect, type Locator, type Page } from '@playwright/test';
import { models } from '@stagi/perf/catalogueFiles.ts';
import { expectAccessible } from './accessible.ts';
import { findCutOffText } from './cutOffText.ts';
import { test } from './fixtures.ts';
import { waitForScreen } from './navigation.ts';
import { openPublic } from './openPublic.ts';
import { enterAsNewPerson } from './people.ts';

const LIST = '/frontend-api/model/list';

const cards = (page: Page): Locator => page.getByTestId('model-card');
const count = (page: Page): Locator => page.getByTestId('model-count');
/** The words of an address behind `?`. */
const query = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Chooses in the menu of a filter, which stays open where one may choose several. */
async function choose(page: Page, filter: string, option: RegExp | string): Promise<void> {
  await page.getByRole('main').getByRole('button', { name: filter }).click();
  const menu = page.getByRole('menu');
  const options = menu.getByRole('menuitemcheckbox').or(menu.getByRole('menuitemradio'));
  await options.filter({ hasText: typeof option === 'string' ? new RegExp(`^${option}$`) : option }).click();
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
}

test('a visitor searches, filters and sorts the catalogue; all of it is in the address', async ({ page, platform }) => {
  await openPublic(page, `${platform.url}/models`);
  const notice = page.getByTestId('demo-notice');
  await expect(notice).toContainText('You are looking at Stagi without an account');
  await expect(notice.getByRole('link', { name: 'Sign up' })).toHaveAttribute('href', '/sign-up');
  await expect(page.getByRole('banner').getByTestId('menu-models')).toHaveAttribute('aria-current', 'page');
  await expect(count(page)).toHaveText(`${models.length} models`);
  await expect(cards(page)).toHaveCount(24);

  await test.step('pages, and the way back', async () => {
    const first = await cards(page).first().textContent();
    await page.getByRole('link', { name: 'Page 2' }).click();
    await expect.poll(() => query(page)).toEqual({ page: '2' });
    await expect(cards(page).first()).not.toHaveText(first ?? '');
    await page.goBack();
    await expect(cards(page).first()).toHaveText(first ?? '');
    await expect.poll(() => query(page)).toEqual({});
  });

  await test.step('search, with a reload', async () => {
    await page.getByRole('searchbox').fill('8b llama 3.1');
    await expect(cards(page)).toHaveCount(1);
    await expect(cards(page)).toContainText('Llama 3.1 8B Instruct');
    await expect(cards(page)).toContainText('8.03B');
    await expect(cards(page)).toContainText('128K');
    await expect(cards(page)).toContainText('Llama 3.1');
    await expect.poll(() => query(page)).toEqual({ q: '8b llama 3.1' });
    await page.reload();
    await expect(page.getByRole('searchbox')).toHaveValue('8b llama 3.1');
    await expect(count(page)).toHaveText(`1 of ${models.length} models`);
    await page.getByRole('searchbox').fill('no such thing');
    await expect(page.getByText('No model matches “no such thing”')).toBeVisible();
    await page.getByTestId('clear-filters').click();
    await expect(page.getByRole('searchbox')).toHaveValue('');
    await expect(cards(page)).toHaveCount(24);
  });

  await test.step('filters are named, and each can be taken away', async () => {
    await choose(page, 'Task', /^Code \(\d+\)$/);
    const coding = models.filter(({ task }) => task === 'code').length;
    await expect(count(page)).toHaveText(`${coding} of ${models.length} models`);
    await choose(page, 'Parameters', '10B–35B');
    await choose(page, 'Fits GPU', 'NVIDIA L4 24GB');
    await choose(page, 'Number of GPUs', '2');
    await expect.poll(() => query(page)).toEqual({ task: 'code', size: '10-35', gpu: 'l4.2' });
    const active = page.getByRole('list', { name: 'Filters' });
    await expect(active.getByRole('listitem')).toHaveText(['Code', '10B–35B', 'Fits 2 × NVIDIA L4 24GB', 'Clear all']);
    const fitting = await cards(page).count();
    expect(fitting).toBeGreaterThan(0);
    expect(fitting).toBeLessThan(coding);
    // The second is pressed before the page can show what the first did to the address.
    await active.evaluate(async (list) => {
      const press = (name: string) => list.querySelector<HTMLElement>(`[aria-label="Remove ${name}"]`)?.click();
      press('Code');
      for (let turn = 0; turn < 100; turn += 1) await null;
      press('10B–35B');
    });
    await expect.poll(() => query(page)).toEqual({ gpu: 'l4.2' });
    await page.getByTestId('clear-all').click();
    await expect(active).toHaveCount(0);
    await expect.poll(() => query(page)).toEqual({});
    // Of an older address: a GPU that the catalogue no longer has counts as none.
    await page.goto(`${platform.url}/models?gpu=voodoo-2&task=code`);
    await expect(count(page)).toHaveText(`${coding} of ${models.length} models`);
  });

  await test.step('order, and the table, which this browser remembers', async () => {
    await openPublic(page, `${platform.url}/models`);
    await choose(page, 'Sort', 'Smallest');
    await expect.poll(() => query(page)).toEqual({ sort: 'parameters.asc' });
    const smallest = models.toSorted((a, b) => a.parameters.total - b.parameters.total)[0]?.name ?? '';
    await expect(cards(page).first()).toContainText(smallest);
    await page.getByTestId('view-table').click();
    const rows = page.getByTestId('model-row');
    await expect(rows.first()).toContainText(smallest);
    await expect.poll(() => query(page)).toEqual({ sort: 'parameters.asc', view: 'table' });
    await page.getByRole('columnheader', { name: 'Context' }).getByRole('button').click();
    await expect.poll(() => query(page).sort).toMatch(/^contextLength\./);
    await page.goto(`${platform.url}/models`);
    await expect(rows).toHaveCount(24);
    await expectAccessible(page, 'the table of models');
    await page.getByTestId('view-cards').click();
    await expect(cards(page)).toHaveCount(24);
  });

  await test.step('what fails can be tried again, and the page before stays meanwhile', async () => {
    await openPublic(page, `${platform.url}/models`);
    await page.route(`**${LIST}`, (route) => route.fulfill({ status: 400, json: { isSuccess: false, message: 'No' } }));
    await page.getByRole('searchbox').fill('qwen');
    const again = page.getByRole('main').getByRole('button', { name: 'Try again' });
    await expect(again).toBeVisible();
    await page.unroute(`**${LIST}`);
    await again.click();
    await expect(cards(page).first()).toContainText('Qwen');
    await expectAccessible(page, 'the cards of models');
  });

  await test.step('a card leads to its model, and back to the list as it was', async () => {
    await page.getByRole('searchbox').fill('llama 3.1 8b');
    await expect(cards(page)).toHaveCount(1);
    await cards(page).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Llama 3.1 8B Instruct');
    expect(new URL(page.url()).pathname).toBe('/models/llama-3.1-8b-instruct');
    await page.goBack();
    await expect(page.getByRole('searchbox')).toHaveValue('llama 3.1 8b');
  });
});

test('on a phone the filters are in a panel, and nothing is wider than the screen', async ({ browser, platform }) => {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, hasTouch: true });
  const page = await context.newPage();
  await openPublic(page, `${platform.url}/models`);
  const open = page.getByTestId('open-filters');
  await expect(open).toHaveText('Filters');
  await open.click();
  const panel = page.getByTestId('model-filters').getByRole('dialog');
  await expect(panel).toBeVisible();
  await panel.getByRole('button', { name: 'Licence' }).click();
  await page.getByRole('menuitemcheckbox', { name: /^MIT/ }).click();
  await page.keyboard.press('Escape');
  const coded = models.filter(({ licence }) => licence === 'mit').length;
  await expect(panel.getByTestId('show-models')).toHaveText(`Show ${coded} models`);
  expect(await findCutOffText(page)).toEqual([]);
  await panel.getByTestId('show-models').click();
  await expect(panel).toBeHidden();
  await expect(open).toHaveText('Filters · 1');
  await expect(open).toBeFocused();
  await expect(count(page)).toHaveText(`${coded} of ${models.length} models`);
  expect(await findCutOffText(page)).toEqual([]);
  await context.close();
});

test('a signed-in person begins here, without a word about an account', async ({ page, platform }) => {
  await enterAsNewPerson(page, platform);
  await page.getByRole('banner').getByTestId('menu-models').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Models');
  await waitForScreen(page);
  await expect(page.getByTestId('demo-notice')).toHaveCount(0);
  await expect(cards(page)).toHaveCount(24);
  await page.goto(platform.url);
  await expect(page).toHaveURL(`${platform.url}/models`);
  await expect(cards(page)).toHaveCount(24);
});
