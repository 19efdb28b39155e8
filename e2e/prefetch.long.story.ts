import { expect, test } from './fixtures.ts';
import { enterAsNewPerson } from './people.ts';

const LIST = '/frontend-api/docker-container/list';

test('a page is fetched when its link is pointed at or focused; what is refused then says so only on the page', async ({
  page,
  platform,
}) => {
  await enterAsNewPerson(page, platform);
  const tabs = page.getByRole('navigation', { name: 'Cloud' });
  const asked = (part: string) => page.waitForRequest((request) => request.url().includes(part));

  // By keys: the code and the first answers.
  await expect(page).toHaveURL(/instances/);
  const offers = asked('/frontend-api/hardware/offer/list');
  const code = asked('/assets/MarketplacePage');
  await tabs.getByRole('link', { name: 'Hardware marketplace' }).focus();
  await Promise.all([offers, code]);
  await expect(page).toHaveURL(/instances/);

  // By pointing, at what is refused: nothing happens until the page is asked for.
  await page.route(`**${LIST}`, (route) =>
    route.fulfill({ status: 403, json: { isSuccess: false, message: 'No' }, contentType: 'application/json' }),
  );
  const refused = page.waitForResponse((response) => response.url().endsWith(LIST));
  const containers = tabs.getByRole('link', { name: 'Containers' });
  await containers.hover();
  await (await refused).finished();
  await tabs.getByRole('link', { name: 'Instances' }).hover();
  await expect(page.getByRole('heading', { level: 1, name: 'Instances' })).toBeVisible();
  await expect(page).toHaveURL(/instances/);
  await containers.click();
  await expect(page).toHaveURL(/\/403$/);
});
