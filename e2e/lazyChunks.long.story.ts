import { expect, test } from './fixtures.ts';

test('a page whose chunks fail to load retries, then says so', async ({ page, platform }) => {
  const main = '**/assets/index-*.js';
  await page.route(main, (route) => route.abort('failed'), { times: 1 });
  await page.goto(platform.url);
  // The prerendered markup is visible at once; React listens to it after the second try.
  await expect(page.locator('html[data-ready]')).toHaveCount(1);

  // Lazily loaded chunks are retried without a message, and the page keeps its state.
  const kept = () => page.evaluate(() => document.documentElement.dataset.kept);
  await page.evaluate(() => document.documentElement.setAttribute('data-kept', 'yes'));
  let lost = 0;
  for (const chunk of ['TooltipBubble', 'SignInPage'])
    await page.route(
      `**/assets/${chunk}-*.js`,
      async (route) => {
        lost += 1;
        await route.abort('failed');
      },
      { times: 1 },
    );
  await page.getByTestId('menu-cloud').focus();
  await expect(page.getByRole('tooltip')).toHaveText('Log in to open Cloud');
  await page.getByRole('banner').getByRole('link', { name: 'Log in' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Log in' })).toBeVisible();
  expect(await kept()).toBe('yes');
  expect(lost).toBe(2);

  await page.route(main, (route) => route.abort('failed'));
  await page.reload();
  await expect(page.getByRole('alert')).toContainText('Stagi could not be loaded');
  await page.unroute(main);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Log in' })).toBeVisible();
});
