import { expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { openPublic } from './openPublic.ts';

test('a visitor reads the docs, finds a page by a word and copies a command', async ({ browser, platform }) => {
  const context = await browser.newContext({ locale: 'en-GB', permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  await openPublic(page, `${platform.url}/docs`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1);
  await expect(page.getByTestId('footer')).toBeVisible();

  const field = page.getByRole('combobox', { name: 'Search the docs' });
  await page.keyboard.press('/');
  await expect(field).toBeFocused();
  await field.fill('stroage');
  const options = page.getByTestId('docs-found').getByRole('option');
  await expect(options.first()).toContainText(/storage/i);
  await expectAccessible(page, 'docs, search open');
  await field.press('ArrowDown');
  await expect(options.nth(1)).toHaveAttribute('aria-selected', 'true');
  await field.press('ArrowUp');
  await field.press('Enter');
  await expect(page).toHaveURL(/\/docs\/.*storage/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(/storage/i);
  await field.fill('qqqqqqqq');
  await expect(page.getByText('No page matches “qqqqqqqq”')).toBeVisible();

  await openPublic(page, `${platform.url}/docs/api/instances`);
  const tabs = page.getByRole('tablist').first().getByRole('tab');
  await expect(tabs.first()).toHaveAttribute('aria-selected', 'true');
  await tabs.first().focus();
  await page.keyboard.press('ArrowRight');
  await expect(tabs.nth(1)).toBeFocused();
  await expect(page.getByRole('tablist').nth(1).getByRole('tab').nth(1)).toHaveAttribute('aria-selected', 'true');
  const block = page.locator('pre:visible').first();
  const code = (await block.textContent())?.replace(/\n$/, '') ?? '';
  await page.getByRole('button', { name: 'Copy', exact: true }).filter({ visible: true }).first().click();
  await expect(page.getByRole('button', { name: 'Copied', exact: true })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(code);
  await expectAccessible(page, 'API reference');
  await context.close();
});

test('pages are read in each language, without code too, and links of a text stay in the app', async ({
  browser,
  platform,
}) => {
  for (const [language, locale, title] of [
    ['cn', 'zh', '文档'],
    ['ru', 'ru', 'Документация'],
    ['tr', 'tr', 'Belgeler'],
  ] as const) {
    const still = await browser.newContext({ locale: 'en-GB', javaScriptEnabled: false });
    const plain = await still.newPage();
    await plain.goto(`${platform.url}/docs?lang=${language}`);
    await expect(plain.locator(`html[lang=${locale}]`)).toBeAttached();
    await expect(plain.getByRole('link', { name: title, exact: true }).first()).toBeVisible();
    await expect(plain.locator('link[rel="canonical"]')).toHaveAttribute(
      'href',
      `${platform.url}/docs?lang=${language}`,
    );
    await still.close();
  }
  const context = await browser.newContext({ locale: 'ru-RU' });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(`${platform.url}/docs/concepts/billing`);
  await expect(page.getByText('Эта страница ещё не переведена: она на английском языке.')).toBeVisible();
  await page.goto(`${platform.url}/docs?lang=en`);
  await expect(page.locator('html[lang=en][data-ready]')).toBeAttached();
  const heading = await page.locator('h1').textContent();
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  await page.locator('article a[href^="/docs/"]').first().click();
  await expect(page.locator('h1')).not.toHaveText(heading ?? '');
  expect(await page.evaluate(() => 'sameDocument' in window), 'the link was followed within the app').toBe(true);
  await page.getByRole('link', { name: 'Next page' }).click();
  await expect(page.locator('article h1')).toBeVisible();
  expect(problems).toEqual([]);
  await context.close();
});

test('posts, tutorials and legal pages are open to visitors, also on a phone', async ({ browser, platform }) => {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  await page.goto(`${platform.url}/blog`);
  await expect(page.getByRole('link', { name: 'Atom feed' })).toBeVisible();
  await expectAccessible(page, 'blog');
  await page.locator('main h2 a').first().click();
  await expect(page).toHaveURL(/\/blog\/[\w-]+\?id=\d+$/);
  await expect(page.locator('article time')).toHaveText(/^November \d+, 2026$/);
  await expectAccessible(page, 'post');
  const crumbs = page.getByRole('navigation', { name: 'Breadcrumbs' });
  await expect(crumbs.getByRole('link')).toHaveText(['Home', 'Blog']);
  const title = await page.getByRole('heading', { level: 1 }).textContent();
  await expect(crumbs.locator('[aria-current]')).toHaveText(title ?? '');
  await page.getByRole('link', { name: 'All posts' }).click();
  await expect(page).toHaveURL(/\/blog$/);

  await page.goto(`${platform.url}/tutorials`);
  await page.locator('main h2 a').first().click();
  await expect(page.locator('article h1')).toBeVisible();
  await page.getByRole('button', { name: 'All pages' }).click();
  await expect(page.getByRole('navigation', { name: 'All pages' }).getByRole('link').first()).toBeVisible();
  await expectAccessible(page, 'tutorial with its menu open');

  for (const path of [
    '/terms-of-service',
    '/privacy-policy',
    '/ai-use-policy',
    '/docs',
    '/docs/api/instances',
    '/docs/troubleshooting',
  ]) {
    await openPublic(page, platform.url + path);
    await expectAccessible(page, path);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, `${path} does not scroll sideways`).toBeLessThanOrEqual(360);
  }
  await context.close();
});
