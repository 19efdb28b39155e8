import { HELD } from '@stagi/contract/errors.ts';
import { httpSender, signUp } from '@stagi/server/src/testing/person.ts';
import { expect, test } from './fixtures.ts';
import { enter } from './people.ts';

const BALANCE_EVERY_MS = 60_000;

test('the shell tells what the account lacks', async ({ page, platform }) => {
  const ada = await signUp(platform.url, httpSender(platform.url), {
    name: 'Ada Lovelace',
    email: `ada-lacks-${Date.now()}@example.com`,
  });
  await test.step('an account that cannot be loaded has a retry, on public pages as a notice', async () => {
    await page.clock.install();
    await page.route('**/frontend-api/user/profile', (route) => route.fulfill({ status: 500, body: '{}' }));
    await enter(page, platform.url, ada, '/403');
    await expect(page.getByRole('heading', { level: 1, name: 'No access' })).toBeVisible({ timeout: 20_000 });
    await expect(page.getByRole('status').filter({ hasText: 'Your account could not be loaded' })).toBeVisible();
    await page.goto(`${platform.url}/contact`);
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible({ timeout: 20_000 });
    await page.goto(`${platform.url}/cloud/instances`);
    await expect(page.getByRole('alert')).toContainText('Your account could not be loaded', { timeout: 20_000 });
    await page.unroute('**/frontend-api/user/profile');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Instances' })).toBeVisible();
  });

  await test.step('the days left, only in the last two weeks, and the notice at zero', async () => {
    const balance = {
      isSuccess: true,
      exhausted: false,
      zero: null,
      burnPerHour: '1',
      reserve: '0',
      daysLeft: null as number | null,
      starterRefused: null,
    };
    const shown = { ...balance, clientBalance: { USD: { decimalValue: '7' }, STAGI: { decimalValue: '7' } } };
    await page.route('**/frontend-api/billing/balance', (route) => route.fulfill({ json: shown }));
    const header = page.getByRole('banner');
    // What was asked before has been answered: the next tick would only wait for that.
    await expect(header.getByTestId('balance')).toBeVisible();
    for (const [daysLeft, words] of [
      [14, '14 days left'],
      [1.5, '1 day left'],
      [0.5, '< 1 day left'],
    ] as const) {
      shown.daysLeft = daysLeft;
      await page.clock.fastForward(BALANCE_EVERY_MS);
      await expect(header.getByText(words)).toBeVisible();
    }
    await header.getByText('< 1 day left').hover();
    await expect(page.getByRole('tooltip')).toHaveText(
      'Time remaining before the balance runs out at the current usage rate',
    );
    shown.daysLeft = 15;
    await page.clock.fastForward(BALANCE_EVERY_MS);
    await expect(header.getByText(/left/)).toHaveCount(0);
    await expect(header.getByTestId('balance')).toBeVisible();
    Object.assign(shown, { daysLeft: 0, exhausted: true, clientBalance: { USD: zero(), STAGI: zero() } });
    await page.clock.fastForward(BALANCE_EVERY_MS);
    await expect(header.getByText('0 days left')).toBeVisible();
    await expect(page.getByRole('status').filter({ hasText: 'You have no STAGI left.' })).toContainText(
      'You have no STAGI left. All your instances and tasks are paused.',
    );
    await page.unroute('**/frontend-api/billing/balance');
  });

  await test.step('the platform is held, since when, on a phone too; a refusal names no time to wait', async () => {
    await page.route('**/frontend-api/user/profile', async (route) => {
      const reply = await route.fetch();
      const body = await reply.json();
      Object.assign(body.userProfile, { platformHeldSince: '2026-11-25T03:04:00.000Z' });
      await route.fulfill({ response: reply, json: body });
    });
    const refused = { isSuccess: false, message: HELD, code: 'held' };
    await page.route('**/frontend-api/user/edit', (route) =>
      route.fulfill({ status: 503, json: refused, headers: { 'retry-after': '60' } }),
    );
    await page.goto(`${platform.url}/profile/account`);
    const notice = page.getByRole('status').filter({ hasText: 'This platform was restored' });
    await expect(notice).toHaveText(
      'This platform was restored from a backup of 25.11.2026 03:04 and is held. It shows its data; nothing can be changed until an operator releases it.',
    );
    await page.getByRole('textbox', { name: 'Name' }).fill('Ada King');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('alert')).toHaveText(HELD);
    const { width, height } = page.viewportSize()!;
    await page.setViewportSize({ width: 360, height });
    await expect(notice).toBeInViewport();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.setViewportSize({ width, height });
    await page.goto(`${platform.url}/`);
    await expect(notice).toBeVisible();
    await page.unroute('**/frontend-api/user/profile');
  });

  await test.step('a greyed menu item names the missing permission; the page says 403', async () => {
    await page.route('**/frontend-api/user/profile', async (route) => {
      const reply = await route.fetch();
      const body = await reply.json();
      for (const relation of body.userProfile.clientRelations)
        Object.assign(relation, { permissions: ['BASIC_ACTIONS'], roleName: 'Guest' });
      await route.fulfill({ response: reply, json: body });
    });
    await page.goto(`${platform.url}/cloud/instances`);
    await expect(page).toHaveURL(/\/403$/);
    await expect(page.getByRole('main')).toContainText(
      'Instances needs a permission that your role in this workspace does not include: INSTANCE_RENTED_MANAGEMENT',
    );
    await page.getByTestId('menu-cloud').hover();
    await expect(page.getByRole('tooltip')).toContainText('INSTANCE_RENTED or SELFHOSTED_INSTANCE');
  });
});

const zero = () => ({ decimalValue: '0' });
