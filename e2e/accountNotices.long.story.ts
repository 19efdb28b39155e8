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
