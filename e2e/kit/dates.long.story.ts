import type { Page } from '@playwright/test';
import { expectAccessible } from '../accessible.ts';
import { sideways } from '../cutOffText.ts';
import { expect, test } from '../fixtures.ts';

/** A Sunday, the day on which clocks go forward in Europe; the browser itself runs in UTC. */
const NOW = '2026-03-29T12:00:00.000Z';

/** What each quick link means at that moment, in UTC. */
const MEANS: Record<string, [string, string]> = {
  'Last 15 minutes': ['2026-03-29T11:45:00.000Z', NOW],
  'Last hour': ['2026-03-29T11:00:00.000Z', NOW],
  'Last 6 hours': ['2026-03-29T06:00:00.000Z', NOW],
  'Last 24 hours': ['2026-03-28T12:00:00.000Z', NOW],
  'Last 7 days': ['2026-03-22T12:00:00.000Z', NOW],
  'Last 30 days': ['2026-02-27T12:00:00.000Z', NOW],
  Today: ['2026-03-29T00:00:00.000Z', '2026-03-29T23:59:59.999Z'],
  Yesterday: ['2026-03-28T00:00:00.000Z', '2026-03-28T23:59:59.999Z'],
  'The day before yesterday': ['2026-03-27T00:00:00.000Z', '2026-03-27T23:59:59.999Z'],
  'This week': ['2026-03-23T00:00:00.000Z', NOW],
  'Last week': ['2026-03-16T00:00:00.000Z', '2026-03-22T23:59:59.999Z'],
  'This month': ['2026-03-01T00:00:00.000Z', NOW],
  'Last month': ['2026-02-01T00:00:00.000Z', '2026-02-28T23:59:59.999Z'],
  'All time': ['null', 'null'],
};

let page: Page;
test.describe.configure({ mode: 'serial' });
test.beforeAll(async ({ browser, platform }) => {
  // Of its own, as the check of accessibility asks for.
  page = await (await browser.newContext()).newPage();
  await page.clock.setFixedTime(NOW);
  await page.goto(`${platform.url}/kit/dates`);
});
test.afterAll(() => page.context().close());

const empty = () => page.getByTestId('dates-empty');
const opener = () => empty().getByTestId('date-range');
const value = () => empty().locator('output');
const panel = () => page.getByTestId('date-range-panel');
const apply = () => page.getByTestId('date-range-apply');
const cancel = () => panel().getByRole('button', { name: 'Cancel' });
const search = () => panel().getByPlaceholder('Search quick ranges');
const link = (name: string) => panel().getByRole('option', { name, exact: true });
const field = (name: string) => page.getByTestId(`range-${name}`);

async function open(): Promise<void> {
  await opener().click();
  await expect(panel()).toBeVisible();
}

test('asks for a date, and applies nothing before something is chosen', async () => {
  await expect(opener()).toHaveText('Select date');
  await open();
  await expect(search()).toBeFocused();
  await expect(apply()).toBeDisabled();
});

test('quick links are searched, chosen by the keyboard, and applied', async () => {
  await search().fill(' century ');
  await expect(panel().getByText('No shortcuts found.')).toBeVisible();
  await expect(panel().getByText('Adjust your search or enter dates and times manually.')).toBeVisible();
  await search().fill('YEST');
  await expect(panel().getByRole('option')).toHaveText(['Yesterday', 'The day before yesterday']);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(link('Yesterday')).toHaveAttribute('aria-selected', 'true');
  await expect(value()).toHaveText('null');
  await apply().click();
  await expect(panel()).toBeHidden();
  await expect(opener()).toHaveText('Yesterday');
  await expect(opener()).toBeFocused();
});

test('every quick link means the UTC times that its unit says', async () => {
  let applied = 0;
  for (const [name, [start, end]] of Object.entries(MEANS)) {
    await open();
    await link(name).click();
    await apply().click();
    await expect(value()).toContainText(`= ${start} … ${end}`);
    await expect(opener()).toHaveText(name);
    applied += 1;
  }
  console.log(`quick links applied: n = ${applied}`);
  expect(applied).toBe(14);
});

test('typing clears the quick link, masks what is typed and flags what is wrong, without words', async () => {
  await open();
  await expect(link('All time')).toHaveAttribute('aria-selected', 'true');
  await field('startDate').pressSequentially('1x00 32026');
  await expect(field('startDate')).toHaveValue('10/03/2026');
  await expect(panel().getByRole('option', { selected: true })).toHaveCount(0);
  await expect(apply()).toBeDisabled();
  await field('endDate').fill('28022026');
  await expect(field('endDate')).toHaveValue('28/02/2026');
  await expect(field('startDate')).toHaveAttribute('aria-invalid', 'true');
  await expect(field('endDate')).toHaveAttribute('aria-invalid', 'true');
  await expect(panel().getByRole('alert')).toHaveCount(0);
  await expect(apply()).toBeDisabled();
  await field('endDate').fill('12/03/2026');
  await expect(field('startDate')).not.toHaveAttribute('aria-invalid', 'true');
  await expect(apply()).toBeEnabled();
  await field('startTime').fill('25:00');
  await expect(field('startTime')).toHaveAttribute('aria-invalid', 'true');
  await expect(apply()).toBeDisabled();
  await field('startTime').fill('0930');
  await expect(field('startTime')).toHaveValue('09:30');
  await expect(apply()).toBeEnabled();
  await field('endDate').fill('10/03/2026');
  await field('endTime').fill('09:30');
  await expect(apply()).toBeDisabled();
  await field('endTime').fill('09:31');
  await expect(apply()).toBeEnabled();
  await field('endDate').fill('');
  await expect(apply()).toBeDisabled();
});

test('choosing a quick link clears the fields; Cancel and Escape keep what was applied', async () => {
  await link('Today').click();
  for (const name of ['startDate', 'startTime', 'endDate', 'endTime']) await expect(field(name)).toHaveValue('');
  await expect(apply()).toBeEnabled();
  await cancel().click();
  await expect(panel()).toBeHidden();
  await expect(opener()).toHaveText('All time');
  await open();
  await expect(link('All time')).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Escape');
  await expect(panel()).toBeHidden();
  await expect(opener()).toBeFocused();
});

test('days are pressed in the calendar instead; empty times become 00:00 and 23:59', async () => {
  await open();
  await panel()
    .getByRole('button', { name: 'Tuesday, 10 March 2026' })
    .or(panel().getByRole('button', { name: 'Tuesday, March 10, 2026' }))
    .click();
  await expect(field('startDate')).toHaveValue('10/03/2026');
  await expect(apply()).toBeDisabled();
  await panel().getByRole('button', { name: 'Thursday, March 12, 2026' }).click();
  await expect(field('endDate')).toHaveValue('12/03/2026');
  await apply().click();
  await expect(opener()).toHaveText('10/03/2026 00:00 - 12/03/2026 23:59');
  await expect(value()).toHaveText(
    '2026-03-10 00:00~2026-03-12 23:59 = 2026-03-10T00:00:00.000Z … 2026-03-12T23:59:00.000Z',
  );
  await empty().getByRole('button', { name: 'Clear the dates' }).click();
  await expect(opener()).toHaveText('Select date');
});

test('typed times are those of the zone, across its change of the clocks', async () => {
  const berlin = page.getByTestId('dates-typed');
  await expect(berlin.locator('output')).toContainText('= 2026-03-28T23:00:00.000Z … 2026-03-30T10:30:00.000Z');
  // That of the story before may still be fading.
  await expect(panel()).toHaveCount(0);
  await berlin.getByTestId('date-range').click();
  await expect(panel()).toContainText('Time zone: Europe/Berlin');
  // Half past two does not exist on that day: it is half past three, after the end.
  await field('startTime').fill('02:30');
  await field('endDate').fill('29/03/2026');
  await field('endTime').fill('03:15');
  await expect(apply()).toBeDisabled();
  await cancel().click();
  await expect(panel()).toBeHidden();
});

test('no serious accessibility finding in the open picker, both themes', async () => {
  await open();
  await field('startDate').fill('31/02/2026');
  console.log(`axe on the open date picker: n = ${await expectAccessible(page, 'date picker')}`);
  await cancel().click();
  await expect(panel()).toBeHidden();
});

test('at 360 px the choice is a dialog that fits', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open();
  await expect(page.getByRole('dialog').filter({ has: panel() })).toBeVisible();
  await link('Last hour').click();
  const beyond = await sideways(page);
  expect(beyond).toBeLessThanOrEqual(0);
  await expect(apply()).toBeInViewport();
  await apply().click();
  await expect(panel()).toBeHidden();
  await expect(opener()).toHaveText('Last hour');
});
