import { expect, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { type Ids, ownScreens, publicScreens, furnishedTest as test } from './furnished.ts';

test('axe finds nothing serious on any route, in either theme', async ({ page, lab }) => {
  // Every screen twice, and there are ever more of them.
  test.setTimeout(420_000);
  const { platform, person, ids } = lab;
  let looks = 0;
  const look = async (path: string): Promise<void> => {
    await open(page, platform.url + path);
    looks += await expectAccessible(page, path);
  };
  const own = ownScreens(ids);
  for (const path of publicScreens(ids)) await look(path);

  await page.evaluate(
    ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
    person.tokens(),
  );
  for (const path of own) await look(path);
  await lookAtDialogs(page, platform.url, ids);
  console.log(`axe on routes: n = ${looks} looks at ${looks / 2} screens`);
  expect(looks).toBeGreaterThanOrEqual(2 * (publicScreens(ids).length + own.length));

  async function lookAtDialogs(page: Page, url: string, { instance }: Ids): Promise<void> {
    await open(page, `${url}/cloud/marketplace`);
    await page.getByTestId('offer-row').first().getByText(/rent/i).click();
    await expect(page.getByTestId('rent-submit')).toBeVisible();
    looks += await expectAccessible(page, 'the rent panel');
    await open(page, `${url}/cloud/instances/${instance}`);
    await page.getByTestId('action-terminate').click();
    await expect(page.getByTestId('confirm-slug')).toBeVisible();
    looks += await expectAccessible(page, 'the question before terminating');
    await page.keyboard.press('Escape');
    await page.getByTestId('profile-menu').click();
    looks += await expectAccessible(page, 'the profile');
  }
});

/** The screen as it is to be used: headed, and no longer waiting for anything. */
async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
}
