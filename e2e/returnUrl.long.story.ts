import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { safeReturnUrl } from '@stagi/contract/returnUrl.ts';
import { FRIENDLY_RETURN_URLS, HOSTILE_RETURN_URLS } from '@stagi/contract/testing/returnUrls.ts';
import { httpSender, PASSWORD, signUp } from '@stagi/server/src/testing/person.ts';
import { expect, test } from './fixtures.ts';
import { startPlatform } from './platform.ts';

test('no return address leads a signed-in visitor to another site', async ({ page, platform }) => {
  const origin = new URL(platform.url).origin;
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
  page.on('dialog', (dialog) => {
    foreign.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const person = await signUp(platform.url, httpSender(platform.url), { name: 'Ada', email: 'returns@example.com' });
  await page.goto(`${platform.url}/configuration.json`);
  await page.evaluate(
    ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
    person.tokens(),
  );
  await page.goto(`${platform.url}/profile/account`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));

  // As whoever comes back to the sign-in page while signed in: the guard leads on at once, without another page load.
  const values = [...HOSTILE_RETURN_URLS, ...FRIENDLY_RETURN_URLS];
  const landings = await page.evaluate(async (all) => {
    const found: { href: string; anchor: string }[] = [];
    for (const returnUrl of all) {
      window.history.pushState(null, '', `/sign-in?${new URLSearchParams({ returnUrl })}`);
      window.dispatchEvent(new PopStateEvent('popstate', { state: null }));
      const deadline = Date.now() + 20_000;
      // The root leads on to the models, the cloud to its first page.
      const onTheWay = () => ['/sign-in', '/', '/cloud'].includes(window.location.pathname);
      while (onTheWay() || !document.querySelector('h1')) {
        if (Date.now() > deadline)
          throw new Error(`still at ${window.location.pathname} with ${JSON.stringify(returnUrl)}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const link = document.createElement('a');
      link.href = returnUrl;
      found.push({ href: window.location.href, anchor: link.href });
    }
    return found;
  }, values);

  expect(landings).toHaveLength(values.length);
  const home = /^\/(models|cloud(\/instances)?)?$/;
  landings.forEach(({ href, anchor }, index) => {
    const value = values[index]!;
    const landing = new URL(href);
    expect(landing.origin, JSON.stringify(value)).toBe(origin);
    const followed = safeReturnUrl(value, origin);
    const expected = new URL(followed ?? '/', origin);
    if (home.test(expected.pathname)) expect.soft(landing.pathname, JSON.stringify(value)).toMatch(home);
    else {
      // The router makes one slash of several within a path.
      expected.pathname = expected.pathname.replace(/\/{2,}/g, '/');
      expect.soft(href, JSON.stringify(value)).toBe(expected.href);
      // This browser's own reading of what was followed.
      expect(new URL(anchor).origin, JSON.stringify(value)).toBe(origin);
    }
  });
  expect(foreign).toEqual([]);
  expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true);
  console.log(`return addresses in Chromium: n = ${values.length} (${HOSTILE_RETURN_URLS.length} hostile), 0 escapes`);
});

test('a login returns directly to an address that the operator allows, and to no other', async ({ page }) => {
  const docs = createServer((_, response) => response.end('<h1>Docs</h1>'));
  await new Promise<void>((resolve) => docs.listen(0, '127.0.0.1', resolve));
  const there = `http://127.0.0.1:${(docs.address() as AddressInfo).port}`;
  const platform = await startPlatform('e2ereturn', { LOCAL_CLOUD: 'off', RETURN_URL_ALLOW_LIST: `${there}/app` });
  const email = 'returns@example.com';
  await signUp(platform.url, httpSender(platform.url), { name: 'Ada', email });

  const wanted = `${there}/app/page?a=b#c`;
  await page.goto(`${platform.url}/sign-up?${new URLSearchParams({ returnUrl: wanted })}`);
  await page.getByRole('main').getByRole('link', { name: 'Log in' }).click();
  // Both forms have these fields.
  await page.getByRole('heading', { name: 'Log in', level: 1 }).waitFor();
  await page.locator('html[data-ready]').waitFor();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
  await expect(page).toHaveURL(wanted);
  await expect(page.getByRole('heading', { name: 'Docs' })).toBeVisible();

  // Signed in now: the guard decides as soon as the page opens.
  for (const evil of [
    `${there}/apple`,
    `${there}/app/..%2fother`,
    `${there}@evil.example/app`,
    `//${new URL(there).host}/app`,
  ]) {
    await page.goto(`${platform.url}/sign-in?${new URLSearchParams({ returnUrl: evil })}`);
    await expect(page, evil).toHaveURL(`${platform.url}/models`);
  }
  await platform.stop();
  docs.close();
});
