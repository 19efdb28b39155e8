import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { httpSender, mailedCode, PASSWORD, signUp } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { sendSignUpForm, typeCode } from './people.ts';
import type { Platform } from './platform.ts';
import { STORY_APP } from './registeredApp.ts';

test('an app is let in from its link to its call, taken back, and told no', async ({ page, platform }) => {
  const app = await startApp(platform.url);
  try {
    const person = await signUp(platform.url, httpSender(platform.url), {
      name: 'Ada Lovelace',
      email: `apps-${Date.now()}@example.com`,
    });

    const tokens = await test.step('the link leads through signing in to the question', async () => {
      const link = app.link(STORY_APP.clientId);
      await page.goto(link.query);
      await expect(page).toHaveURL(/\/sign-in\?returnUrl=%2Fconsent/);
      await page.getByLabel('Email').fill(person.email);
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Allow Story app?');
      const powers = page.getByTestId('consent-powers');
      await expect(powers.getByRole('listitem')).toHaveText([
        'See your name and email address',
        'See rented instances',
      ]);
      await expect(
        page.getByText(`You will be redirected to the app on this computer (127.0.0.1:${app.port}).`),
      ).toBeVisible();
      await expectAccessible(page, 'the question of an app');
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await isWiderThanScreen(page)).toBe(false);
      await expectAccessible(page, 'the question of an app at 360 px');
      await page.setViewportSize({ width: 1280, height: 800 });

      await expect(page.getByText('Access ends after 90 days, or 14 days without use.')).toBeVisible();
      await page.getByTestId('consent-allow').click();
      await showThatItIsMe(page, platform, person.email);
      await expect(page.getByText('The app has its answer')).toBeVisible();
      const answer = app.answer();
      expect(answer.get('state')).toBe(link.state);
      expect(answer.get('iss')).toBe(platform.url);
      // From the app's own page, as apps without a server do.
      return app.tradeIn(page, answer.get('code') ?? '', link.verifier);
    });

    await test.step('its calls are answered until it is disconnected', async () => {
      expect(await app.call('user/profile', tokens.access_token)).toBe(200);
      expect(await app.call('auth/session/list', tokens.access_token)).toBe(403);
      await page.goto(`${platform.url}/profile/account/sessions`);
      const rows = page.getByTestId('consent-row');
      await expect(rows).toHaveCount(1);
      await expect(rows).toContainText('Story app');
      // The count alone says too little: its rights stand behind it.
      await rows.getByText(/^\d+ permissions?$/).hover();
      await expect(page.getByRole('tooltip')).toContainText('See rented instances');
      await expectAccessible(page, 'connected apps');
      await page.setViewportSize({ width: 360, height: 740 });
      await expect(rows).toHaveCount(1);
      expect(await isWiderThanScreen(page)).toBe(false);
      await page.setViewportSize({ width: 1280, height: 800 });
      await rows.getByRole('button', { name: 'Actions for Story app' }).click();
      await page.getByTestId('action-disconnect-app').click();
      await expect(page.getByRole('dialog')).toContainText('Disconnect Story app?');
      await page.getByTestId('confirm-submit').click();
      await expect(page.getByText('The app has been disconnected')).toBeVisible();
      await expect(page.getByText('No app is connected.')).toBeVisible();
      expect(await app.call('user/profile', tokens.access_token)).toBe(401);
    });

    await test.step('no is an answer too, and the link may be base64 JSON', async () => {
      const link = app.link(STORY_APP.clientId);
      await page.goto(link.json);
      await page.getByRole('button', { name: 'Deny' }).click();
      await expect(page.getByText('The app has its answer')).toBeVisible();
      const answer = app.answer();
      expect(Object.fromEntries(answer)).toEqual({ error: 'access_denied', state: link.state, iss: platform.url });
    });

    await test.step('a redirect that is not the app’s leads nowhere, and half a link is none', async () => {
      const link = app.link(STORY_APP.clientId, '/elsewhere');
      await page.goto(link.query);
      await expect(page.getByText('This app cannot be connected')).toBeVisible();
      await expect(page.getByText('This redirect address is not registered for the app')).toBeVisible();
      await page.goto(`${platform.url}/sign-in?client_id=${STORY_APP.clientId}&state=half`);
      await expect(page).toHaveURL(`${platform.url}/models?client_id=${STORY_APP.clientId}&state=half`);
    });

    const secrets = await page.evaluate(() => ['accessToken', 'refreshToken'].map((key) => localStorage.getItem(key)));
    app.expectNoneOf([...secrets, tokens.access_token, tokens.refresh_token]);
  } finally {
    app.stop();
  }
});

test('the platform’s own command line is let in by signing up, with one click', async ({ page, platform }) => {
  const app = await startApp(platform.url);
  try {
    const link = app.link('stagi-cli');
    await page.goto(link.hash);
    await expect(page).toHaveURL(/\/sign-in\?returnUrl=%2Fconsent/);
    await page.getByRole('link', { name: 'Sign up' }).last().click();
    const email = `cli-${Date.now()}@example.com`;
    await page.getByLabel('Name').fill('Grace Hopper');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Repeat the password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign up', exact: true }).last().click();
    await expect(page).toHaveURL(/\/confirmation/);
    await typeCode(page, await mailedCode(platform.url, email));
    await sendSignUpForm(page);
    await expect(page.getByText('It gets access to all your workspaces.')).toBeVisible();
    await page.getByTestId('consent-allow').click();
    await showThatItIsMe(page, platform, email);
    await expect(page.getByText('The app has its answer')).toBeVisible();
    const answer = app.answer();
    const tokens = await app.trade(answer.get('code') ?? '', link.verifier, 'stagi-cli');
    expect(await app.call('user/profile', tokens.access_token)).toBe(200);
    expect(answer.get('state')).toBe(link.state);
  } finally {
    app.stop();
  }
});

/** By the code that is mailed to who has no second factor. */
async function showThatItIsMe(page: Page, platform: Platform, email: string): Promise<void> {
  await expect(page.getByRole('dialog').getByText(`We sent an 8-digit code to ${email}.`)).toBeVisible();
  await typeCode(page, await mailedCode(platform.url, email));
}

const isWiderThanScreen = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

interface AppTokens {
  access_token: string;
  refresh_token: string;
}

/** An app on the user's own machine: it listens on a port that it finds, and notes everything that reaches it. */
async function startApp(platform: string) {
  const requests: { url: string; all: string }[] = [];
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    requests.push({ url, all: `${request.method} ${url} ${JSON.stringify(request.rawHeaders)}` });
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>App</title><p>The app has its answer');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const redirect = (path: string) => `http://127.0.0.1:${port}${path}`;
  const given = (code: string, code_verifier: string, client_id: string) => ({
    grant_type: 'authorization_code',
    client_id,
    code,
    code_verifier,
    redirect_uri: redirect('/callback'),
  });

  return {
    port,
    link(clientId: string, path = '/callback') {
      const verifier = randomBytes(32).toString('base64url');
      const state = randomBytes(8).toString('hex');
      const request = {
        client_id: clientId,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        redirect_uri: redirect(path),
        response_type: 'code',
        state,
      };
      const query = new URLSearchParams(request).toString();
      return {
        state,
        verifier,
        query: `${platform}/sign-in?${query}`,
        hash: `${platform}/sign-in#${query}`,
        json: `${platform}/sign-in?${new URLSearchParams({ state: btoa(JSON.stringify(request)) })}`,
      };
    },
    /** What the newest visit of the redirect address said. */
    answer(): URLSearchParams {
      const visit = requests.findLast(({ url }) => url.startsWith('/callback?'));
      if (!visit) throw new Error('nobody came back to the app');
      return new URL(visit.url, platform).searchParams;
    },
    async trade(code: string, code_verifier: string, client_id: string): Promise<AppTokens> {
      const body = new URLSearchParams(given(code, code_verifier, client_id));
      const reply = await fetch(`${platform}/oauth/token`, { method: 'POST', body });
      expect(reply.status).toBe(200);
      return (await reply.json()) as AppTokens;
    },
    /** The same by a page of the app in the browser, whose origin is another than the platform's. */
    async tradeIn(page: Page, code: string, code_verifier: string): Promise<AppTokens> {
      expect(new URL(page.url()).origin).toBe(redirect(''));
      const form = given(code, code_verifier, STORY_APP.clientId);
      const trade = { url: `${platform}/oauth/token`, form };
      const tokens = await page.evaluate(async ({ url, form }) => {
        const reply = await fetch(url, { method: 'POST', body: new URLSearchParams(form), credentials: 'omit' });
        return reply.json();
      }, trade);
      return tokens as AppTokens;
    },
    async call(path: string, token: string): Promise<number> {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const reply = await fetch(`${platform}/frontend-api/${path}`, { method: 'POST', headers, body: '{}' });
      return reply.status;
    },
    expectNoneOf(secrets: (string | null)[]) {
      const known = secrets.filter((secret) => secret !== null);
      const seen = requests.map(({ all }) => all).join('\n');
      console.log(`requests that reached an app: n = ${requests.length}, looked through for ${known.length} tokens`);
      expect(requests.length).toBeGreaterThan(0);
      expect(known.length).toBe(4);
      expect(known.filter((secret) => seen.includes(secret))).toEqual([]);
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
