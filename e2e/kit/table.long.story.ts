import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

/** One page for all of it: the stories follow each other on the table of the gallery. */
let page: Page;
let table: Locator;
test.describe.configure({ mode: 'serial' });
test.beforeAll(async ({ browser, platform }) => {
  // Of its own, as the check of accessibility asks for.
  page = await (await browser.newContext()).newPage();
  await page.goto(`${platform.url}/kit/table`);
  table = page.getByTestId('table-full');
});
test.afterAll(() => page.context().close());

const rows = () => table.getByTestId('machine-row');
const titles = async () => (await rows().locator('[data-row-link]').allTextContents()).map((text) => text.slice(0, 10));
const head = (name: string) => table.getByRole('columnheader', { name });
const row = (title: string) => rows().filter({ hasText: title });
const tick = (title: string) => table.getByRole('checkbox', { name: `Select ${title}`, exact: true });

test('rows and those that stand for them while loading are 40 px high, figures stand right', async () => {
  await expect(rows()).toHaveCount(10);
  const heights = await page
    .locator('[data-testid="table-full"] tbody tr, [data-testid="table-loading"] tbody tr')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  console.log(`row height: n = ${heights.length} rows`);
  expect(heights.length).toBeGreaterThan(10);
  expect(new Set(heights.map((height) => Math.round(height)))).toEqual(new Set([40]));
  const cores = row('Machine 01').getByRole('cell').nth(3);
  await expect(cores).toHaveCSS('text-align', 'right');
  await expect(cores).toHaveCSS('font-variant-numeric', 'tabular-nums');
});

test('sorts by a press on the head and says so', async () => {
  await expect(head('Name')).toHaveAttribute('aria-sort', 'ascending');
  await expect(head('Cores')).toHaveAttribute('aria-sort', 'none');
  await head('Cores').getByRole('button').click();
  await expect(head('Cores')).toHaveAttribute('aria-sort', 'ascending');
  await expect(head('Name')).toHaveAttribute('aria-sort', 'none');
  await head('Cores').getByRole('button').click();
  await expect(head('Cores')).toHaveAttribute('aria-sort', 'descending');
  await expect(rows().first().getByRole('cell').nth(3)).toHaveText('16');
  await head('Name').getByRole('button').click();
  await expect.poll(titles).toContain('Machine 01');
});

test('the head stays in sight below the header', async () => {
  await page.evaluate(() => window.scrollTo(0, 300));
  const below = async () => {
    const header = await page.evaluate(() => document.querySelector('header')?.getBoundingClientRect().bottom ?? 0);
    return Math.abs(((await head('Name').boundingBox())?.y ?? 0) - header);
  };
  // The line below the header belongs to both.
  await expect.poll(below).toBeLessThanOrEqual(1);
  await page.evaluate(() => window.scrollTo(0, 0));
});

test('the whole row is its link, also its texts that answer to the pointer; its box and its menu are not', async () => {
  const at = () => page.evaluate(() => window.location.hash);
  await row('Machine 03').getByRole('cell').nth(3).click();
  await expect.poll(at).toBe('#machine-3');
  await row('Machine 04').locator('time').click();
  await expect.poll(at).toBe('#machine-4');
  await row('Machine 05').locator('time').hover();
  await expect(page.getByRole('tooltip')).toContainText('05.03.2026 09:30:00 UTC+00:00');
  await tick('Machine 06').check();
  await tick('Machine 06').uncheck();
  await table.getByRole('button', { name: 'Actions for Machine 06' }).click();
  await page.keyboard.press('Escape');
  expect(await at()).toBe('#machine-4');
  await expect(row('Machine 03').getByRole('link')).toHaveAttribute('href', '#machine-3');
});

test('the row menu lists what is impossible, with the reason', async () => {
  await table.getByRole('button', { name: 'Actions for Machine 02' }).click();
  // By its name: the menu before may still be fading.
  const stop = page.getByRole('menu', { name: 'Actions for Machine 02' }).getByTestId('action-stop');
  await expect(stop).toHaveAttribute('aria-disabled', 'true');
  await stop.hover();
  await expect(page.getByRole('tooltip', { name: 'Only a running instance can be stopped' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(stop).toBeHidden();
});

test('arrows go from row to row, Space selects, Enter opens', async () => {
  await row('Machine 01').getByRole('link').focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
  await expect(row('Machine 02').getByRole('link')).toBeFocused();
  await page.keyboard.press('End');
  await expect(row('Machine 10').getByRole('link')).toBeFocused();
  await page.keyboard.press('Home');
  await expect(row('Machine 01').getByRole('link')).toBeFocused();
  await page.keyboard.press('Space');
  await expect(tick('Machine 01')).toBeChecked();
  await page.keyboard.press('Space');
  await expect(tick('Machine 01')).not.toBeChecked();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => window.location.hash)).toBe('#machine-1');
});

test('selected rows get a bar that does what it can and says what it cannot', async () => {
  await tick('Machine 02').check();
  await expect(table.getByText('1 selected')).toBeVisible();
  await expect(page.getByTestId('bulk-stop')).toHaveAttribute('aria-disabled', 'true');
  await page.getByTestId('bulk-stop').hover();
  await expect(page.getByRole('tooltip', { name: 'Only a running instance can be stopped' })).toBeVisible();
  await tick('Machine 06').click({ modifiers: ['Shift'] });
  await expect(table.getByText('5 selected')).toBeVisible();
  // Of the five only the fifth runs.
  await expect(page.getByTestId('bulk-stop')).toHaveText('Stop (1)');
  await page.getByTestId('bulk-stop').click();
  await expect(page.getByTestId('table-said')).toHaveText('stopped 5');
  await expect(head('Name').getByRole('button')).toHaveCount(0);
  await table.getByRole('checkbox', { name: 'Select all on this page' }).last().check();
  await expect(table.getByText('10 selected')).toBeVisible();
  await table.getByRole('button', { name: 'Clear the selection' }).click();
  await expect(table.getByText(/selected/)).toHaveCount(0);
});

test('while somebody points at the rows, changes from elsewhere come without moving them', async () => {
  await row('Machine 04').hover();
  // The pointer must stay where it is, and the focus would scroll the page below it.
  await table.getByRole('button', { name: 'Change from elsewhere' }).dispatchEvent('click');
  await expect(row('Machine 03')).toContainText('Rebooting');
  const places = table.locator('tbody tr [data-row-link]');
  expect((await places.allTextContents()).map((text) => text.slice(0, 10)).slice(0, 4)).toEqual([
    'Machine 01',
    'Machine 02',
    'Machine 03',
    'Machine 04',
  ]);
  await expect(table.locator('tr[data-gone]')).toContainText('Machine 02');
  await expect(table.getByText('1 new')).toBeVisible();
  await page.mouse.move(0, 0);
  await expect(rows().first()).toContainText('A new machine');
  await expect(table.getByText('Machine 02')).toHaveCount(0);
});

test('who looks away and takes the focus along in one moment points at nothing any more', async () => {
  // What a hand does within one frame of the screen on a slow machine.
  const pointer = (type: 'over' | 'out') =>
    tick('Machine 04').evaluate((box: HTMLElement, name) => {
      const row = box.closest('tr');
      const far = { bubbles: true, relatedTarget: document.body, pointerType: 'mouse' };
      if (name === 'over') box.focus();
      row?.dispatchEvent(new PointerEvent(`pointer${name}`, far));
      if (name === 'out') box.blur();
    }, type);
  await pointer('over');
  await table.getByRole('button', { name: 'Change from elsewhere' }).click();
  await expect(table.getByText('1 new')).toBeVisible();
  await pointer('over');
  await pointer('out');
  await expect(table.getByText('1 new')).toHaveCount(0);
});

test('columns are chosen, and the choice is remembered', async () => {
  await table.getByTestId('table-columns').last().click();
  await page.getByRole('menuitemcheckbox', { name: 'Cores' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Number' }).click();
  await page.keyboard.press('Escape');
  await expect(head('Cores')).toHaveCount(0);
  await page.reload();
  await expect(head('Number')).toBeVisible();
  await expect(head('Cores')).toHaveCount(0);
  await table.getByTestId('table-columns').last().click();
  await page.getByRole('menuitem', { name: 'Reset columns' }).click();
  await page.keyboard.press('Escape');
  await expect(head('Cores')).toBeVisible();
  await expect(head('Number')).toHaveCount(0);
});

test('pages are turned and may be longer', async () => {
  const pages = table.getByRole('navigation', { name: 'Pages' });
  await expect(pages).toContainText('1–10 of 34');
  await pages.getByRole('button', { name: 'Page 4' }).click();
  await expect(pages).toContainText('31–34 of 34');
  await expect(rows()).toHaveCount(4);
  await pages.getByTestId('page-limit').click();
  await page.getByRole('menuitemradio', { name: '50 rows' }).click();
  await expect(pages).toContainText('34 in total');
  await expect(rows()).toHaveCount(34);
});

test('nothing yet, nothing that matches and an error each say what to do', async () => {
  await expect(page.getByTestId('table-empty').getByRole('button', { name: 'Rent a server' })).toBeVisible();
  await expect(page.getByTestId('table-no-match').getByRole('button', { name: 'Clear the filters' })).toBeVisible();
  await expect(page.getByTestId('table-error').getByRole('alert')).toContainText('The server cannot be reached');
  await expect(page.getByTestId('table-error').getByRole('button', { name: 'Try again' })).toBeVisible();
});

test('at 360 px rows are cards that can be sorted and selected, and nothing is wider than the screen', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await expect(table.getByText('Status').first()).toBeHidden();
  await table.getByRole('button', { name: 'Sorted by Name' }).click();
  await page.getByRole('menuitem', { name: 'Rented' }).click();
  await expect(table.getByRole('button', { name: 'Sorted by Rented' })).toBeVisible();
  await table.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await expect(table.getByText('34 selected')).toBeVisible();
  const beyond = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(await beyond()).toBeLessThanOrEqual(0);
  await table.getByRole('button', { name: 'Clear the selection' }).click();
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('no serious accessibility finding in table and list, both themes', async ({ platform }) => {
  let checked = 0;
  for (const section of ['table', 'list']) {
    if (section !== 'table') await page.goto(`${platform.url}/kit/${section}`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(section);
    checked += await expectAccessible(page, section);
  }
  console.log(`axe on lists: n = ${checked}`);
  expect(checked).toBe(4);
});
