import { expect } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { walkTo } from './navigation.ts';
import { ownScreens, publicScreens, seededTest as test } from './seededPlatform.ts';

test('axe finds nothing serious on any route, in either theme', async ({ page, lab }) => {
  // Every screen twice, and there are ever more of them.
  test.setTimeout(420_000);
  const { platform, person, ids } = lab;
  let looks = 0;
  const look = async (path: string): Promise<void> => {
    await walkTo(page, path);
    looks += await expectAccessible(page, path);
  };
  const own = ownScreens(ids);
  await page.goto(platform.url);
  for (const path of publicScreens(ids)) await look(path);

  await page.evaluate(
    ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
    person.tokens(),
  );
  await page.goto(`${platform.url}/profile/account`);
  for (const path of own) await look(path);
  await lookAtDialogs();
  console.log(`axe on routes: n = ${looks} looks at ${looks / 2} screens`);
  expect(looks).toBeGreaterThanOrEqual(2 * (publicScreens(ids).length + own.length));

  async function lookAtDialogs(): Promise<void> {
    await walkTo(page, '/cloud/marketplace');
    await page.getByTestId('offer-row').first().getByText(/rent/i).click();
    await expect(page.getByTestId('rent-submit')).toBeVisible();
    looks += await expectAccessible(page, 'the rent panel');
    await page.keyboard.press('Escape');
    await walkTo(page, `/cloud/instances/${ids.instance}`);
    await page.getByTestId('action-terminate').click();
    await expect(page.getByTestId('confirm-slug')).toBeVisible();
    looks += await expectAccessible(page, 'the question before terminating');
    await page.keyboard.press('Escape');
    await page.getByTestId('profile-menu').click();
    looks += await expectAccessible(page, 'the profile');
  }
});
