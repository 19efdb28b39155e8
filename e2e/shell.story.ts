import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, expect, type Locator, test } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { LEGAL, MENU } from '@stagi/contract/menu.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { CHROMIUM } from '../scripts/chromium.ts';
import { openPublic } from './openPublic.ts';
import { enter } from './people.ts';
import { type Platform, startPlatform } from './platform.ts';

const SOCIALS = ['GitHub', 'X', 'LinkedIn', 'Discord', 'YouTube'];
const SITE = {
  SOCIAL_LINKS: SOCIALS.map((name) => `${name.toLowerCase()}=https://example.com/${name}`).join(','),
  ISSUE_TRACKER_URL: 'https://example.com/issues',
  SUPPORT_EMAIL: 'help@example.com',
  TUTORIALS_URL: 'https://tutorials.example.com/',
  PARTNER_MARKETPLACE_URL: 'https://partner.example/gpus',
  BANNERS: JSON.stringify([
    { title: 'New GPUs', description: 'They are here.', link: '/sign-up', layout: 'home' },
    { title: 'Maintenance', description: 'On Sunday.', link: 'https://example.com/status', layout: 'app' },
  ]),
};

test.describe.configure({ mode: 'serial' });

let platform: Platform;
let webDir: string;
let ada: Person;

test.beforeAll(async () => {
  webDir = mkdtempSync(join(tmpdir(), 'stagi-shell-web-'));
  cpSync(realpathSync(join(import.meta.dirname, '../packages/web/dist')), webDir, { recursive: true });
  platform = await startPlatform('shell', { ...SITE, LOCAL_CLOUD: 'off', STAGI_WEB_DIR: webDir });
  const email = `ada-${Date.now()}@example.com`;
  ada = await signUp(platform.url, httpSender(platform.url), { name: 'Ada Lovelace', email });
  await ada.client(api.sshKeys.generate, { title: 'laptop' });
});
test.afterAll(async () => {
  await platform?.stop();
  rmSync(webDir, { recursive: true, force: true });
});

test('a visitor finds the ways in, the words of the operator, their language and theme', async ({ page }) => {
  await openPublic(page, platform.url);
  const header = page.getByRole('banner');
  const footer = page.getByTestId('footer');

  await test.step('at home the logo is no link; what needs a session says so', async () => {
    await expect(header.getByText('Stagi', { exact: true })).toBeVisible();
    await expect(header.getByRole('link', { name: /start page/ })).toHaveCount(0);
    await expect(page).toHaveTitle('Stagi');
    const cloud = header.getByTestId('menu-cloud');
    await expect(cloud).toHaveAttribute('aria-disabled', 'true');
    await cloud.focus();
    await expect(page.getByRole('tooltip')).toHaveText('Log in to open Cloud');
    await page.keyboard.press('Escape');
    for (const name of ['Log in', 'Sign up']) await expect(header.getByRole('link', { name })).toBeVisible();
    await expect(header.getByTestId('menu-home')).toHaveCount(0);
  });

  await test.step('the footer has what the operator named, and no empty section', async () => {
    await expect(footer).toContainText(`© ${new Date().getFullYear()} Stagi`);
    // The blog too, which the header shows only to those who may rent.
    await expect(footer.getByRole('navigation', { name: 'Menu' }).getByRole('link')).toHaveText([
      ...MENU.filter(({ onlyAnonymousMobile }) => !onlyAnonymousMobile).map(({ name }) => name),
      'Tutorials',
      'Partner marketplace',
    ]);
    for (const [name, url] of [
      ['Tutorials', SITE.TUTORIALS_URL],
      ['Partner marketplace', SITE.PARTNER_MARKETPLACE_URL],
    ] as const) {
      const link = footer.getByRole('link', { name });
      await expect(link).toHaveAttribute('href', url);
      await expect(link).toHaveAttribute('rel', /noopener/);
    }
    const legal = footer.getByRole('navigation', { name: 'Legal' });
    if (LEGAL.length === 0) await expect(legal).toHaveCount(0);
    else await expect(legal.getByRole('link')).toHaveText(LEGAL.map(({ name }) => name));
    const socials = footer.getByRole('navigation', { name: 'Socials' }).getByRole('link');
    // They come with the configuration, which is read after the page's code has loaded.
    await expect(socials).toHaveText(SOCIALS);
    const outside = [await socials.all(), [footer.getByRole('link', { name: 'Report an issue' })]].flat();
    for (const link of outside) await expect(link).toHaveAttribute('target', '_blank');
    await expect(footer.getByRole('link', { name: 'help@example.com' })).toHaveAttribute('href', /^mailto:/);
    await expect(footer.getByRole('link', { name: 'Sign up' })).toBeVisible();
  });

  await test.step('a banner shows in its layout alone and stays closed', async () => {
    const banner = page.getByRole('complementary', { name: 'New GPUs' });
    await expect(banner).toContainText('They are here.');
    await expect(page.getByTestId('banner')).toHaveCount(1);
    await banner.getByRole('button', { name: 'Hide this message' }).click();
    await expect(banner).toHaveCount(0);
    await page.reload();
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(banner).toHaveCount(0);
  });

  await test.step('to the sign-in page: heading focused, title told, Log in hidden, logo linked', async () => {
    await header.getByRole('link', { name: 'Log in' }).click();
    await expect(page).toHaveURL(/\/sign-in$/);
    await expect(page).toHaveTitle('Log in · Stagi');
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(header.getByRole('link', { name: 'Log in' })).toHaveCount(0);
    await expect(header.getByRole('link', { name: 'Sign up' })).toBeVisible();
    await expect(header.getByRole('link', { name: /start page/ })).toHaveAttribute('href', '/');
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumbs' });
    await expect(crumbs.getByRole('link', { name: 'Home' })).toHaveAttribute('href', '/');
    await expect(crumbs.locator('[aria-current]')).toHaveText('Log in');
  });

  await test.step('language and theme change in place', async () => {
    await page.evaluate(() => Object.assign(window, { sameDocument: true }));
    await page.getByTestId('language-cn').click();
    await expect(page.locator('html')).toHaveAttribute('lang', 'zh');
    await page.getByText('深色', { exact: true }).click();
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
    await page.getByTestId('language-en').click();
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true);
  });

  await test.step('an unknown address answers 404, has the footer and ways on', async () => {
    const reply = await openPublic(page, `${platform.url}/nothing/here`);
    expect(reply?.status()).toBe(404);
    await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible();
    await expect(footer).toBeVisible();
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumbs' });
    await expect(crumbs.getByRole('listitem')).toHaveText(['Home', 'Page not found']);
    const ways = page.getByRole('navigation', { name: 'Other pages' });
    await expect(ways.getByRole('link', { name: 'Models' })).toHaveAttribute('href', '/models');
    await expect(ways.getByRole('link', { name: 'Cloud' })).toHaveCount(0);
    await page.getByRole('link', { name: 'Go to the start page' }).click();
    await expect(page).toHaveURL(`${platform.url}/`);
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  });
});

test('a visitor asks for a demo with the contact form', async ({ page }) => {
  await openPublic(page, platform.url);
  await page.getByRole('banner').getByTestId('menu-contact').click();
  await expect(page.getByRole('heading', { level: 1, name: 'Contact Us' })).toBeFocused();
  await page.getByLabel('Message').fill('We want to see tasks.');
  await page.getByTestId('request-demo').click();
  await expect(page).toHaveURL(/\/contact\?topic=demo$/);
  await expect(page.getByRole('heading', { level: 1, name: 'Request a demo' })).toBeVisible();
  await expect(page.getByRole('radio', { name: 'A demo' })).toBeChecked();
  await expect(page.getByLabel('Message')).toHaveValue('We want to see tasks.');

  const send = page.getByTestId('contact-submit');
  await send.click();
  await expect(page.getByText('Name is required')).toBeVisible();
  await page.getByLabel('Name').fill('Vera Visitor');
  await page.getByLabel('Email').fill('vera@');
  await send.click();
  await expect(page.getByText('Enter a valid email')).toBeVisible();
  await expect(page.getByLabel('Email')).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('Email').fill('vera@example.org');
  await send.click();
  const sent = page.getByTestId('contact-sent');
  await expect(sent.getByRole('heading', { name: 'Thanks, we have your message' })).toBeFocused();
  await expect(sent).toContainText('vera@example.org');

  // What is typed stays when one has to wait.
  await page.getByTestId('contact-again').click();
  const { statuses } = await page.evaluate(
    async ({ path, message }) => {
      const body = JSON.stringify({ topic: 'Help', name: 'Vera', email: 'vera@example.org', message });
      const asked = Array.from({ length: 10 }, () =>
        fetch(`/frontend-api/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
      );
      return { statuses: (await Promise.all(asked)).map(({ status }) => status) };
    },
    { path: api.contact.send.path, message: 'And again' },
  );
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  await page.getByLabel('Name').fill('Vera Visitor');
  await page.getByLabel('Email').fill('vera@example.org');
  await page.getByLabel('Message').fill('One more question');
  await send.click();
  await expect(page.getByText(/Too many attempts/)).toBeVisible();
  await expect(page.getByLabel('Message')).toHaveValue('One more question');
});

test('a signed-in person steers by header, palette and keys', async ({ page }) => {
  await enter(page, platform.url, ada, '/cloud/instances');
  const header = page.getByRole('banner');

  await test.step('header: menu, balance, popover; a banner of the app; no footer', async () => {
    await expect(page.getByRole('heading', { level: 1, name: 'Instances' })).toBeVisible();
    await expect(page).toHaveTitle('Instances · Stagi');
    await expect(header.getByTestId('menu-cloud')).toHaveAttribute('href', '/cloud');
    await expect(header.getByTestId('balance')).toHaveText(/STAGI$/);
    await expect(page.getByRole('complementary', { name: 'Maintenance' })).toBeVisible();
    await expect(page.getByTestId('footer')).toHaveCount(0);
    await expect(page.getByRole('navigation', { name: 'Breadcrumbs' })).toContainText('Cloud');

    const opener = header.getByTestId('profile-menu');
    await opener.click();
    const popover = page.getByRole('dialog', { name: 'Profile menu' });
    await expect(popover).toContainText(ada.email);
    await expect(popover.getByRole('link', { name: 'Edit profile' })).toHaveAttribute('href', '/profile/account');
    await expect(popover.getByRole('link', { name: 'Profile', exact: true })).toBeVisible();
    const balancePage = popover.getByRole('link', { name: 'Transactions & Plans' });
    await expect(balancePage).toHaveAttribute('href', '/profile/balance');
    await expect(popover.getByRole('button', { name: 'Ada Lovelace’s workspace Owner' })).toBeVisible();
    await expect.poll(async () => top(popover).then(async (y) => y - (await bottom(opener)))).toBeCloseTo(14, 0);
    await page.keyboard.press('Escape');
    await expect(popover).toBeHidden();
    await expect(opener).toBeFocused();
  });

  await test.step('the skip link leads past the header', async () => {
    await page.getByRole('link', { name: 'Skip to the content' }).focus();
    await page.keyboard.press('Enter');
    await expect(page.locator('main')).toBeFocused();
    expect(new URL(page.url()).hash).toBe('');
  });

  const palette = page.getByRole('dialog', { name: 'Find anything' });
  const input = palette.getByRole('combobox');
  const options = palette.getByRole('option');
  await test.step('what is typed before the palette is there is typed into it', async () => {
    let arrive = () => {};
    const onItsWay = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await page.route('**/assets/Palette-*.js', async (route) => {
      await onItsWay;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('darks');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    await expect(palette).toBeHidden();
    arrive();
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
    await expect(palette).toBeHidden();
  });

  await test.step('the palette finds pages by keyboard, tells a reader, and remembers', async () => {
    await page.keyboard.press('Control+k');
    await expect(input).toBeFocused();
    await page.keyboard.type('ssh');
    await expect(options).toHaveCount(1);
    await expect(palette.getByRole('status')).toHaveText('1 result');
    await expect(input).toHaveAttribute('aria-activedescendant', (await options.first().getAttribute('id')) ?? 'none');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/profile\/ssh$/);
    await expect(page.getByRole('heading', { level: 1, name: 'SSH keys' })).toBeFocused();

    await page.keyboard.press('Control+k');
    await expect(palette.getByRole('group', { name: 'Recent' }).getByRole('option')).toHaveText([
      /^SSH keys/,
      /^Dark theme/,
    ]);
    await page.keyboard.press('ArrowUp');
    await expect(options.last()).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.type('nothing like this');
    await expect(palette.getByText('No matches').first()).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(palette).toBeHidden();
    await expect(page.getByRole('heading', { level: 1, name: 'SSH keys' })).toBeFocused();
  });

  await test.step('actions: language, theme, the map of keys', async () => {
    for (const [typed, check] of [
      ['language ru', () => expect(page.locator('html')).toHaveAttribute('lang', 'ru')],
      ['language en', () => expect(page.locator('html')).toHaveAttribute('lang', 'en')],
      ['dark', () => expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')],
      ['light', () => expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'light')],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(typed);
      await page.keyboard.press('Enter');
      await check();
      await expect(palette).toBeHidden();
    }
  });

  const map = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await test.step('single keys: go, search, map; off while typing and when switched off', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await expect(page).toHaveURL(/\/cloud\/containers$/);
    await expect(page.getByRole('heading', { level: 1, name: 'Containers' })).toBeFocused();
    await expect(page.getByRole('main').getByRole('searchbox')).toHaveCount(0);
    await page.keyboard.press('/');
    await expect(input).toBeFocused();
    await page.keyboard.type('g i ?');
    await expect(input).toHaveValue('g i ?');
    await page.keyboard.press('Escape');
    await expect(palette).toBeHidden();
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    const search = page.getByRole('main').getByRole('searchbox');
    await expect(page.getByText('laptop')).toBeVisible();
    await page.keyboard.press('/');
    await expect(search).toBeFocused();
    await page.keyboard.type('g i ?');
    await expect(search).toHaveValue('g i ?');
    await expect(page.getByText('No key matches')).toBeVisible();
    await search.fill('');
    await expect(page.getByText('laptop')).toBeVisible();
    await expect(page).toHaveURL(/\/profile\/ssh$/);
    await expect(search).toBeFocused();

    await page.getByRole('heading', { level: 1 }).focus();
    await page.keyboard.press('?');
    await expect(map).toContainText('Hardware marketplace');
    await map.getByRole('switch', { name: 'Single-key shortcuts' }).press('Space');
    await page.keyboard.press('Escape');
    await expect(map).toBeHidden();
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
    await page.keyboard.press('?');
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.keyboard.press('Control+k');
    await expect(input).toBeFocused();
    await expect(map).toBeHidden();
    await expect(page).toHaveURL(/\/profile\/ssh/);
    await page.keyboard.type('keyboard');
    await page.keyboard.press('Enter');
    await expect(map).toBeVisible();
    await map.getByRole('switch').press('Space');
    await page.keyboard.press('Escape');
    await expect(map).toBeHidden();
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  });

  await test.step('without the network it says so', async () => {
    await page.context().setOffline(true);
    await expect(page.getByTestId('offline')).toBeVisible();
    await page.context().setOffline(false);
    await expect(page.getByTestId('offline')).toHaveCount(0);
  });

  await test.step('a new version is offered once it is served', async () => {
    const index = join(webDir, 'index.html');
    writeFileSync(index, `${readFileSync(index, 'utf8')}<!-- built anew -->`);
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    const notice = page.getByTestId('new-version');
    await expect(notice).toBeVisible();
    await notice.getByRole('button', { name: 'Reload the page' }).click();
    await expect(notice).toHaveCount(0);
    await expect(page.getByRole('heading', { level: 1, name: 'SSH keys' })).toBeVisible();
  });
});

test('nothing moves aside when an overlay takes the scrollbar away', async () => {
  // Browsers of tests hide scrollbars.
  const browser = await chromium.launch({ ...CHROMIUM, ignoreDefaultArgs: ['--hide-scrollbars'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  await enter(page, platform.url, ada, '/profile/ssh');
  const place = async () => ({
    window: await page.evaluate(() => innerWidth - document.documentElement.clientWidth),
    header: await page.getByTestId('profile-menu').boundingBox(),
  });
  const overlays: [string, () => Promise<void>][] = [
    ['palette', () => page.keyboard.press('Control+k')],
    ['dialog', () => page.getByTestId('ssh-key-add').click()],
  ];
  // A short page, which shows a scrollbar all the same, and one that scrolls.
  for (const height of ['auto', '3000px'])
    for (const [name, open] of overlays) {
      await page.evaluate((minHeight) => Object.assign(document.body.style, { minHeight }), height);
      await expect(page.getByTestId('profile-menu')).toBeVisible();
      const before = await place();
      expect(before.window, 'there is a scrollbar').toBeGreaterThan(0);
      await open();
      await expect(page.getByRole('dialog')).toBeVisible();
      expect(await page.evaluate(() => getComputedStyle(document.documentElement).overflowY)).toBe('hidden');
      expect((await place()).header, `${name} over a page of height ${height}`).toEqual(before.header);
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
    }
  await browser.close();
});

async function top(element: Locator): Promise<number> {
  return (await element.boundingBox())?.y ?? Number.NaN;
}

async function bottom(element: Locator): Promise<number> {
  const box = await element.boundingBox();
  return box ? box.y + box.height : Number.NaN;
}
