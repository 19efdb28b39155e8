import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { enterAsNewPerson } from './people.ts';

/** Real lists on one page, one after another. */
let page: Page;
let serverId: number;
test.describe.configure({ mode: 'serial' });
test.beforeAll(async ({ browser, platform }) => {
  page = await browser.newPage();
  await enterAsNewPerson(page, platform);
  for (let at = 1; at <= 27; at += 1)
    await send('ssh-key/generate', { title: `Laptop ${String(at).padStart(2, '0')}` });
  const server = await send('self-hosted-instance/create', { title: 'Rack', slug: 'rack' });
  serverId = server.entity.id;
});
test.afterAll(() => page.close());

/** A call from elsewhere: not through the app's own client, so that only events tell the page of it. */
async function send(path: string, body: object): Promise<{ entity: { id: number } }> {
  return page.evaluate(
    async ([to, input]) => {
      const headers: Record<string, string> = {
        authorization: `Bearer ${localStorage.getItem('accessToken')}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      };
      const post = async (where: string, what: unknown) =>
        (await fetch(`/frontend-api/${where}`, { method: 'POST', headers, body: JSON.stringify(what) })).json();
      const { userProfile } = await post('user/profile', {});
      headers['x-client-id'] = String(userProfile.clientRelations[0].clientId);
      return post(to, input);
    },
    [path, body] as const,
  );
}

const rows = () => page.getByTestId('ssh-key-row');
const pages = () => page.getByRole('navigation', { name: 'Pages' });
/** What the pager says, to the letter. */
const counted = (text: string) => pages().getByText(text, { exact: true });
const query = () => new URL(page.url()).searchParams;

test('an address with a page beyond the last and an order that does not exist is mended', async ({ platform }) => {
  await page.goto(`${platform.url}/profile/ssh?page=9&limit=10&sort=nonsense.asc`);
  await expect(rows()).toHaveCount(7);
  await expect(pages()).toContainText('21–27 of 27');
  await expect.poll(() => `${query()}`).toBe('page=3&limit=10');
});

test('pages, their length and the order are in the address, and Back turns back', async () => {
  await pages().getByTestId('page-limit').click();
  await page.getByRole('menuitemradio', { name: '25 rows' }).click();
  await expect(pages()).toContainText('1–25 of 27');
  await expect.poll(() => `${query()}`).toBe('');
  await pages().getByRole('button', { name: 'Next page' }).click();
  await expect(rows()).toHaveCount(2);
  await expect.poll(() => query().get('page')).toBe('2');
  await page.goBack();
  await expect(rows()).toHaveCount(25);
  await page.getByRole('columnheader', { name: 'Title' }).getByRole('button').click();
  await expect.poll(() => query().get('sort')).toBe('title.asc');
  await expect(rows().first()).toContainText('Laptop 01');
});

test('the search is in the address; where nothing matches one press takes it back, but not the order', async () => {
  const search = page.getByPlaceholder('Search keys');
  await search.fill('Laptop 2');
  await expect(pages()).toContainText('8 in total');
  await expect.poll(() => query().get('q')).toBe('Laptop 2');
  await search.fill('no such key');
  await expect(page.getByText('No key matches')).toBeVisible();
  await page.getByTestId('clear-filters').click();
  await expect(rows()).toHaveCount(25);
  await expect(search).toHaveValue('');
  expect(`${query()}`).toBe('sort=title.asc');
});

test('several are deleted at once, after they were named', async () => {
  await page.getByRole('checkbox', { name: 'Select Laptop 02' }).check();
  await page.getByRole('checkbox', { name: 'Select Laptop 04' }).check();
  await page.getByTestId('bulk-delete').click();
  const dialog = page.getByRole('dialog', { name: 'Delete 2 SSH keys?' });
  await expect(dialog.getByRole('listitem')).toHaveText(['Laptop 02', 'Laptop 04']);
  await page.getByTestId('confirm-submit').click();
  await expect(page.getByText('2 SSH keys have been deleted')).toBeVisible();
  await expect(dialog).toBeHidden();
  await page.mouse.move(0, 0);
  await expect(counted('25 in total')).toBeVisible();
  await expect(page.locator('tbody').getByText(/Laptop 0[24]/)).toHaveCount(0);
});

test('what changes elsewhere appears by itself, but moves no row that is pointed at', async () => {
  const first = rows().first();
  await expect(first).toContainText('Laptop 01');
  await rows().nth(2).hover();
  await send('ssh-key/generate', { title: 'A first one' });
  await expect(counted('1–25 of 26 · 1 new')).toBeVisible();
  await expect(first).toContainText('Laptop 01');
  await page.mouse.move(0, 0);
  await expect(first).toContainText('A first one');
  await expect(counted('1–25 of 26')).toBeVisible();
});

test('a row that is deleted by the keyboard holds nothing up', async () => {
  const menu = page.getByRole('button', { name: 'Actions for A first one' });
  await menu.focus();
  await menu.press('Enter');
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
  await page.getByTestId('confirm-submit').press('Enter');
  await expect(counted('25 in total')).toBeVisible();
  await expect(page.locator('tbody').getByText('A first one')).toHaveCount(0);
});

test('the last row may go and another come while it is pointed at', async () => {
  const { entity } = await send('ssh-key/generate', { title: 'Only one' });
  await page.getByPlaceholder('Search keys').fill('Only one');
  await expect(counted('1 in total')).toBeVisible();
  await rows().hover();
  await send('ssh-key/delete', { id: entity.id });
  await expect(page.getByText('No key matches')).toBeVisible();
  await send('ssh-key/generate', { title: 'Only one' });
  await expect(rows()).toHaveText(/Only one/);
});

test('a list that cannot be had says so and can be tried again', async () => {
  const list = '**/frontend-api/docker-container/list';
  await page.route(list, (route) => route.fulfill({ status: 503, body: '' }));
  await page.getByRole('link', { name: 'Cloud', exact: true }).first().click();
  await page.getByRole('link', { name: 'Containers', exact: true }).click();
  await expect(page.getByText('This could not be loaded')).toBeVisible();
  await page.unroute(list);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('No containers yet')).toBeVisible();
});

test('activities are narrowed by time, kept in the address as it was chosen', async ({ platform }) => {
  await page.goto(`${platform.url}/cloud/self-instances/${serverId}/activities?range=last-hour`);
  const happened = page.getByTestId('activity-row');
  await expect(happened).toHaveCount(1);
  const range = page.getByTestId('date-range');
  await expect(range).toHaveText('Last hour');
  await range.click();
  await page.getByRole('option', { name: 'Yesterday', exact: true }).click();
  await page.getByTestId('date-range-apply').click();
  await expect(page.getByText('No matching entries')).toBeVisible();
  expect(query().get('range')).toBe('yesterday');
  await page.getByTestId('clear-filters').click();
  await expect(happened).toHaveCount(1);
  await expect(range).toHaveText('Select date');
});
