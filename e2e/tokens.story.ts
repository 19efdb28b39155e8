import type { Page } from '@playwright/test';
import { LANGUAGES, LOCALE } from '@stagi/contract/languages.ts';
import { httpSender, mailedCode, signUp } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { typeCode } from './people.ts';

const TITLES = { en: 'API tokens', cn: 'API 令牌', ru: 'API-токены', tr: 'API token’ları' };

test('somebody makes a token for a program, sees it used, and archives it for ever', async ({ page, platform }) => {
  const person = await signUp(platform.url, httpSender(platform.url), {
    name: 'Ada Lovelace',
    email: `tokens-${Date.now()}@example.com`,
  });
  await page.goto(`${platform.url}/configuration.json`);
  await page.evaluate(
    ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
    person.tokens(),
  );
  await page.goto(`${platform.url}/profile/tokens`);
  const rows = page.getByTestId('token-row');
  const dialog = page.getByTestId('token-dialog');
  const submit = page.getByTestId('token-submit');

  const token = await test.step('makes one, after what was wrong was shown at its field', async () => {
    await expect(page.getByText('No API tokens yet')).toBeVisible();
    await page.getByTestId('token-create').click();
    await submit.click();
    await expect(dialog.getByText('Description is required')).toBeVisible();
    await dialog.getByLabel('Description').fill('build server');
    await choose(page, 'Custom date…');
    await dialog.getByLabel('Expiration date').fill('31022030');
    await submit.click();
    await expect(dialog.getByText('Enter a valid date')).toBeVisible();
    await dialog.getByLabel('Expiration date').fill('01022020');
    await submit.click();
    // The first time the platform asks who it is, by a mailed code, and then carries on.
    await expect(page.getByTestId('step-up').getByText(`We sent an 8-digit code to ${person.email}`)).toBeVisible();
    await typeCode(page, await mailedCode(platform.url, person.email));
    await expect(dialog.getByText('The expiration must be in the future')).toBeVisible();
    await choose(page, '30 days');
    await dialog.getByLabel('Selected permissions').check();
    await submit.click();
    await expect(dialog.getByText('Choose at least one permission')).toBeVisible();
    await dialog.getByLabel('See rented instances').check();
    await expectAccessible(page, 'the form of a token');
    await submit.click();

    await expect(dialog.getByText('This token is shown only once')).toBeVisible();
    await expectAccessible(page, 'a new token');
    await page.keyboard.press('Escape');
    await expect(page.getByText('Close without saving the token?')).toBeVisible();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const saved = page.waitForEvent('download');
    await page.getByTestId('token-download').click();
    const text = await contentOf(await saved);
    await page.getByTestId('token-done').click();
    await expect(dialog).toBeHidden();
    return text;
  });

  await test.step('a program works with it, within what it was given', async () => {
    await expect(rows).toHaveCount(1);
    await expect(rows).toContainText('build server');
    await expect(rows).toContainText(token.slice(0, token.lastIndexOf('_') + 1));
    await expect(rows).toContainText('1 permission');
    await expect(rows).toContainText('Never');
    expect(await ask(platform.url, token, 'instance-rented/list')).toBe(200);
    expect(await ask(platform.url, token, 'self-hosted-instance/list')).toBe(403);
    expect(await ask(platform.url, token, 'user/profile')).toBe(403);
    await page.reload();
    await expect(rows).toContainText(/s ago|min ago/);
    await expectAccessible(page, 'tokens');
  });

  await test.step('archives it: it is refused, and listed as ended', async () => {
    await rows.getByRole('button', { name: 'Actions for build server' }).click();
    await page.getByTestId('action-archive').click();
    await expect(page.getByText('Archive the token “build server”?')).toBeVisible();
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByText('The token has been archived')).toBeVisible();
    await expect(page.getByText('No API tokens yet')).toBeVisible();
    expect(await ask(platform.url, token, 'instance-rented/list')).toBe(401);
    await page.getByRole('link', { name: 'Archive', exact: true }).click();
    await expect(page).toHaveURL(/\/profile\/tokens\/archive$/);
    await expect(rows).toHaveCount(1);
    await expect(rows).toContainText('Archived');
  });

  await test.step('on a narrow screen, in each language', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const language of LANGUAGES) {
      await page.evaluate((chosen) => localStorage.setItem('language', chosen), language);
      await page.reload();
      await expect(page.locator('html')).toHaveAttribute('lang', LOCALE[language]);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(TITLES[language]);
      await expect(rows).toHaveCount(1);
      const overflow = () =>
        page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(await overflow(), language).toBeLessThanOrEqual(0);
    }
  });
});

async function choose(page: Page, lifetime: string): Promise<void> {
  await page.getByTestId('token-lifetime').click();
  await page.getByRole('option', { name: lifetime }).click();
  await expect(page.getByTestId('token-lifetime')).toContainText(lifetime);
}

async function contentOf(download: { createReadStream(): Promise<NodeJS.ReadableStream> }): Promise<string> {
  let text = '';
  for await (const chunk of await download.createReadStream()) text += chunk;
  return text;
}

async function ask(url: string, token: string, path: string): Promise<number> {
  const reply = await fetch(`${url}/frontend-api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{}',
  });
  return reply.status;
}
