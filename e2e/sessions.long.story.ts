import { type BrowserContext, expect, type Page } from '@playwright/test';
import type { Tokens } from '@stagi/contract/apiClient.ts';
import { httpSender, mailedCode, PASSWORD, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { test } from './fixtures.ts';
import type { Platform } from './platform.ts';
import { startScriptedProxy } from './scriptedProxy.ts';

const EDIT = 'user/edit';
const REFRESH = 'auth/exchange-refresh-token';
const TABS = 4;
/** `REFRESH_RACES` for a longer run. */
const RACES = Number(process.env.REFRESH_RACES ?? 10);

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

test('somebody sees where they are logged in, ends one session, then all others', async ({ browser, platform }) => {
  const person = await aPerson(platform, 'lists');
  await signInAs(platform, person, IPHONE);
  const other = await signInAs(
    platform,
    person,
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  );
  const here = await openAs(await browser.newContext(), platform.url, person.tokens());
  const there = await openAs(await browser.newContext(), platform.url, other);

  const rows = here.getByTestId('session-row');
  await expect(rows).toHaveCount(3);
  await expect(rows.filter({ hasText: 'This session' })).toHaveCount(1);
  const phone = rows.filter({ hasText: 'Safari 18 on iOS' });
  await expect(phone).toContainText(/127\.0\.0\.1|::1/);
  await expect(phone.getByText(/^\d+ (s|min) ago$/)).toBeVisible();
  await expect(rows.filter({ hasText: 'This session' }).getByText('Now', { exact: true })).toBeVisible();
  await expectAccessible(here, 'sessions');
  await here.setViewportSize({ width: 360, height: 740 });
  await expect(rows).toHaveCount(3);
  expect(await sideways(here)).toBeLessThanOrEqual(0);
  await here.setViewportSize({ width: 1280, height: 800 });

  // The one that one is in says why it cannot be ended here.
  await openMenu(here, rows.filter({ hasText: 'This session' }));
  await expect(here.getByTestId('action-end-session')).toHaveAttribute('aria-disabled', 'true');
  await here.keyboard.press('Escape');

  await openMenu(here, rows.filter({ hasText: 'Firefox' }));
  await here.getByTestId('action-end-session').click();
  await expect(here.getByRole('dialog')).toContainText('Firefox 140 on Linux');
  await here.getByTestId('confirm-submit').click();
  const asked = here.getByTestId('step-up');
  await expect(asked.getByText(`We sent an 8-digit code to ${person.email}`)).toBeVisible();
  await asked.getByLabel('Verification code').fill(await mailedCode(platform.url, person.email));
  await expect(here.getByText('The session has been ended')).toBeVisible();
  await expect(rows).toHaveCount(2);
  // Its event stream ends with it, and so it finds out by itself.
  await expect(there).toHaveURL(/\/sign-in\?returnUrl=%2Fprofile%2Faccount%2Fsessions/);
  expect(await there.evaluate(() => localStorage.getItem('refreshToken'))).toBeNull();

  await here.getByTestId('end-other-sessions').click();
  await here.getByTestId('confirm-submit').click();
  await expect(here.getByText('1 session has been ended')).toBeVisible();
  await expect(rows).toHaveCount(1);
  await expect(here.getByText('You have no other sessions.')).toBeVisible();
  await expect(here.getByTestId('end-other-sessions')).toHaveCount(0);
  await here.context().close();
  await there.context().close();
});

test('tabs whose session has run out race for new tokens, one asks, and all stay signed in', async ({
  context,
  page,
  platform,
}) => {
  const replies = await startScriptedProxy(platform);
  try {
    const person = await aPerson(platform, 'races');
    await openAs(context, replies.url, person.tokens(), page);
    const tabs = [page];
    while (tabs.length < TABS) tabs.push(await openAs(context, replies.url, null));
    let asked = 0;
    for (let race = 0; race < RACES; race += 1) {
      const racing = tabs.slice(0, 2 + (race % (TABS - 1)));
      const good = await page.evaluate(() => localStorage.getItem('accessToken'));
      replies.seen.length = 0;
      await page.evaluate(() => localStorage.setItem('accessToken', 'expired'));
      // Storage written in one tab is seen in another a moment later.
      for (const tab of racing)
        await expect.poll(() => tab.evaluate(() => localStorage.getItem('accessToken'))).not.toBe(good);
      await Promise.all(
        racing.map(async (tab, index) => {
          await tab.getByLabel('Name').fill(`Ada ${race} ${index}`);
          const saved = tab.waitForResponse((reply) => reply.url().endsWith(EDIT) && reply.status() === 200);
          const save = tab.getByRole('button', { name: 'Save' });
          await save.click();
          await saved;
          // The answer is in the form; until then another press would count as the same one.
          await expect(save).toBeDisabled();
        }),
      );
      expect(replies.count(REFRESH), `race ${race}`).toBe(1);
      asked += racing.length;
    }
    for (const tab of tabs) await expect(tab.getByTestId('profile-menu')).toBeVisible();
    console.log(`races of tabs in Chromium: n = ${RACES}, ${asked} tabs, 0 false sign-outs`);
    expect(asked).toBeGreaterThan(0);
  } finally {
    replies.stop();
  }
});

const aPerson = (platform: Platform, name: string): Promise<Person> =>
  signUp(platform.url, httpSender(platform.url), { name: 'Ada Lovelace', email: `${name}-${Date.now()}@example.com` });

async function signInAs(platform: Platform, { email }: Person, userAgent: string): Promise<Tokens> {
  const reply = await fetch(`${platform.url}/frontend-api/auth/email/authentication`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': userAgent },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  expect(reply.status).toBe(200);
  return (await reply.json()) as Tokens;
}

/** Opens the account's sessions, signed in with `tokens`, or as the context is already. */
async function openAs(context: BrowserContext, url: string, tokens: Tokens | null, given?: Page): Promise<Page> {
  const page = given ?? (await context.newPage());
  if (tokens) {
    await page.goto(`${url}/configuration.json`);
    await page.evaluate(
      ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
      tokens,
    );
  }
  await page.goto(`${url}/profile/account${tokens && !given ? '/sessions' : ''}`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  return page;
}

async function openMenu(page: Page, row: ReturnType<Page['getByTestId']>): Promise<void> {
  await row.getByRole('button', { name: /^Actions for/ }).click();
  await expect(page.getByTestId('action-end-session')).toBeVisible();
}
