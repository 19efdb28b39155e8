import type { BrowserContext, Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { expect, test } from './fixtures.ts';
import { freezerOf } from './freezer.ts';
import { enter } from './people.ts';
import type { Platform } from './platform.ts';
import { startScriptedProxy } from './scriptedProxy.ts';

/** Chromium opens six HTTP/1.1 connections to a host. */
const TABS = 12;
const QUICK_MS = 10_000;
const WAKES_WITHIN_MS = 2_000;
/** Then the next attempt is more than `WAKES_WITHIN_MS` away. */
const FAILED_ATTEMPTS = 2;

test('twelve tabs stay alive: all show what changes, and another page loads quickly', async ({ context, platform }) => {
  const ada = await aPerson(platform);
  const tabs: Page[] = [];
  for (let n = 0; n < TABS; n += 1) {
    const tab = await openKeys(context, platform.url, ada);
    await expect(tab.getByText('No SSH keys yet'), `tab ${n + 1}`).toBeVisible();
    tabs.push(tab);
  }
  await generateKey(ada, 'Laptop');
  for (const [n, tab] of tabs.entries()) await expect(keys(tab), `tab ${n + 1}`).toContainText(['Laptop']);

  const since = performance.now();
  const another = await openKeys(context, platform.url, ada);
  await expect(keys(another)).toContainText(['Laptop']);
  const ms = performance.now() - since;
  expect(ms).toBeLessThan(QUICK_MS);
  console.log(`tabs: n = ${TABS} alive, another page after ${ms.toFixed(0)} ms`);
});

test('a tab that was frozen or without network catches up when it wakes', async ({ context, page, platform }) => {
  const replies = await startScriptedProxy(platform);
  try {
    const ada = await aPerson(platform);
    const opened = page.waitForEvent('websocket', (socket) => socket.url().includes('/frontend-api/events'));
    await openKeys(context, replies.url, ada, page);
    await opened;
    const freezer = await freezerOf(page);
    const took: number[] = [];

    await test.step('its connection ended meanwhile', async () => {
      await freezer.freeze();
      replies.cut();
      await generateKey(ada, 'While frozen');
      took.push(await catchesUp('While frozen', freezer.wake));
    });

    await test.step('attempts to reconnect had failed before', async () => {
      replies.always('stream-ticket', { status: 503, body: {} });
      const asked = replies.count('stream-ticket');
      replies.cut();
      await expect.poll(() => replies.count('stream-ticket'), { timeout: 30_000 }).toBe(asked + FAILED_ATTEMPTS);
      replies.always('stream-ticket', null);
      await generateKey(ada, 'While away');
      took.push(await catchesUp('While away', freezer.wake));
    });

    await test.step('the network was gone', async () => {
      await context.setOffline(true);
      replies.cut();
      await generateKey(ada, 'While offline');
      took.push(await catchesUp('While offline', () => context.setOffline(false)));
    });
    console.log(`woken tabs: caught up after ${took.map((ms) => ms.toFixed(0)).join(', ')} ms`);

    async function catchesUp(title: string, begin: () => Promise<unknown>): Promise<number> {
      const streams = replies.count('events');
      const since = performance.now();
      await begin();
      await keys(page).filter({ hasText: title }).waitFor();
      const ms = performance.now() - since;
      expect(ms, title).toBeLessThan(WAKES_WITHIN_MS);
      // The list is also read anew when the network is back, which may be faster.
      await expect.poll(() => replies.count('events'), { message: `${title}: by a new stream` }).toBe(streams + 1);
      return ms;
    }
  } finally {
    replies.stop();
  }
});

const keys = (page: Page) => page.getByTestId('ssh-key-row');

const generateKey = (person: Person, title: string) => person.client(api.sshKeys.generate, { title });

const aPerson = (platform: Platform): Promise<Person> =>
  signUp(platform.url, httpSender(platform.url), { name: 'Ada Lovelace', email: `tabs-${Date.now()}@example.com` });

async function openKeys(context: BrowserContext, url: string, person: Person, given?: Page): Promise<Page> {
  const page = given ?? (await context.newPage());
  await enter(page, url, person, '/profile/ssh');
  return page;
}
