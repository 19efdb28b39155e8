import type { Page } from '@playwright/test';
import { httpSender, signUp } from '@stagi/server/src/testing/person.ts';
import { expect, test } from './fixtures.ts';
import { enter } from './people.ts';

test.use({ viewport: { width: 360, height: 740 }, hasTouch: true });

test('the panel holds everything, the header gives way to the page', async ({ page, platform }) => {
  const ada = await signUp(platform.url, httpSender(platform.url), {
    name: 'Ada Lovelace',
    email: `ada-phone-${Date.now()}@example.com`,
  });
  await page.clock.install();
  await page.goto(platform.url);
  const header = page.getByRole('banner');
  const burger = page.getByTestId('open-panel');
  const panel = page.getByRole('dialog', { name: 'Menu' });

  await test.step('a visitor’s panel: Home, log in, sign up; the focus stays in it and comes back', async () => {
    await expect(header.getByRole('link', { name: 'Log in' })).toBeHidden();
    await burger.click();
    await expect(panel.getByTestId('menu-home')).toBeVisible();
    await expect(panel.getByText('Log in to open Cloud')).toBeVisible();
    for (let press = 0; press < 20; press += 1) {
      await page.keyboard.press('Tab');
      expect(await panel.evaluate((element) => element.contains(document.activeElement)), `Tab ${press}`).toBe(true);
    }
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).overflowY)).toBe('hidden');
    await page.keyboard.press('Escape');
    await expect(panel).toBeHidden();
    await expect(burger).toBeFocused();
    await burger.click();
    await panel.getByRole('link', { name: 'Log in' }).click();
    await expect(page).toHaveURL(/\/sign-in$/);
    await expect(panel).toBeHidden();
  });

  await test.step('a signed-in panel: profile, workspaces, balance, menu', async () => {
    await enter(page, platform.url, ada, '/cloud/instances');
    await expect(page.getByRole('heading', { level: 1, name: 'Instances' })).toBeVisible();
    await burger.click();
    await expect(panel).toContainText(ada.email);
    await expect(panel.getByRole('button', { name: 'Ada Lovelace’s workspace Owner' })).toBeVisible();
    await expect(panel.getByTestId('balance')).toBeVisible();
    expect(await panel.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
    await panel.getByRole('link', { name: 'SSH keys' }).click();
    await expect(panel).toBeHidden();
    await expect(page.getByRole('heading', { level: 1, name: 'SSH keys' })).toBeFocused();
  });

  await test.step('the header hides 500 ms after a scroll to 100 px, and is back near the top', async () => {
    await page.evaluate(() => {
      document.body.style.minHeight = '3000px';
    });
    await page.clock.pauseAt(Date.now() + 60_000);
    await scroll(page, 99);
    await page.clock.runFor(1_000);
    await expect(header).not.toHaveAttribute('data-hidden');
    await scroll(page, 100);
    await page.clock.runFor(499);
    await expect(header).not.toHaveAttribute('data-hidden');
    await page.clock.runFor(1);
    await expect(header).toHaveAttribute('data-hidden');
    await scroll(page, 0);
    await expect(header).not.toHaveAttribute('data-hidden');
  });
});

/** Scrolls and waits until the page was told of it. */
async function scroll(page: Page, to: number): Promise<void> {
  await page.evaluate(
    (y) =>
      new Promise<void>((resolve) => {
        window.addEventListener('scroll', () => resolve(), { once: true });
        window.scrollTo({ top: y, behavior: 'instant' });
      }),
    to,
  );
}
