import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { credit } from '@stagi/server/src/billing/meteredWorkspace.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openAs } from './people.ts';

/** What runs the snippet of each tool. */
const PROGRAMS = {
  'AWS CLI': ['bash', '-e'],
  rclone: ['bash', '-e'],
  boto3: ['/usr/bin/python3', '-'],
  s3cmd: ['bash', '-e'],
  JavaScript: [process.execPath, '--input-type=module', '-'],
} as const;
const SLOW = { timeout: 60_000 };

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());

test('somebody creates a storage, makes a key that is shown once, resizes it and deletes it', async ({ browser }) => {
  test.setTimeout(180_000);
  const ada = await app.signUp('Ada Lovelace');
  await credit(app.ctx.db, ada.workspaceId, 'card', 10_000_000n);
  const page = await openAs(browser, app.url, ada, '/cloud/storages');

  await test.step('an empty list leads to the form, which names what is missing', async () => {
    await page.getByTestId('storage-create').click();
    await page.getByTestId('storage-submit').click();
    const dialog = page.getByTestId('storage-dialog');
    await expect(dialog.getByText('Title is required')).toBeVisible();
    await expect(dialog.getByText('0.20 STAGI')).toBeVisible();
    await expectAccessible(page, 'the form of a storage');
  });

  await test.step('it is rented within seconds', async () => {
    await page.getByLabel('Title').fill('Winter data');
    await expect(page.getByLabel('Unique ID')).toHaveValue('winter-data');
    await page.getByTestId('storage-submit').click();
    await expect(page.getByTestId('storage-status')).toHaveText('Rented', SLOW);
    await expect(page.getByText('s3://winter-data', { exact: true })).toBeVisible();
    await expectAccessible(page, 'a storage');
  });

  await test.step('its key is shown once, with snippets that hold it', async () => {
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByTestId('key-create').click();
    await page.getByLabel('Title').fill('backup');
    await page.getByTestId('key-submit').click();
    const secret = (await page.getByTestId('key-secret').textContent()) ?? 'no secret';
    await expect(page.getByTestId('snippets')).toContainText(secret);
    const id = Number(/storages\/(\d+)/.exec(page.url())?.[1]);
    const { link } = await ada.client(api.storages.uploadLink, { id, key: 'a b.txt' });
    expect((await fetch(link, { method: 'PUT', body: 'found' })).status).toBe(200);
    expect(await runSnippets(page)).toEqual(Object.keys(PROGRAMS).map((tool) => `${tool} finds a b.txt`));
    await expectAccessible(page, 'a new key');
    await page.getByTestId('key-download').click();
    await page.getByTestId('key-done').click();
    await expect(page.getByTestId('key-row')).toContainText('backup');
    await expect(page.getByText(secret)).toHaveCount(0);
  });

  await test.step('a larger size shows its price before it is chosen', async () => {
    await page.getByTestId('action-resize').click();
    const dialog = page.getByTestId('resize-dialog');
    await dialog.getByRole('spinbutton').fill('20');
    await expect(dialog.getByText('0.40 STAGI')).toBeVisible();
    await page.getByTestId('resize-submit').click();
    await expect(dialog).toBeHidden();
  });

  await test.step('a phone has room for list and keys', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.goto(`${app.url}/cloud/storages`);
    await expect(page.getByTestId('storage-row')).toContainText('of 20 GB', SLOW);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await expectAccessible(page, 'the storages');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await test.step('deleting says what is lost and asks for the Unique ID', async () => {
    await page
      .getByTestId('storage-row')
      .getByRole('link', { name: /Winter data/ })
      .click();
    await page.getByTestId('action-delete').click();
    await expect(page.getByText('1 access key: what uses it stops working')).toBeVisible();
    await page.getByTestId('confirm-slug').fill('winter-data');
    await page.getByTestId('confirm-submit').click();
    await expect(page).toHaveURL(/\/cloud\/storages$/);
    await expect(page.getByTestId('storage-row')).toHaveCount(0, SLOW);
  });
  await page.context().close();
});

/** Pastes the snippet of each tool; a tool that this machine lacks is told as an error of its program. */
async function runSnippets(page: Page): Promise<string[]> {
  const shown = page.getByTestId('snippets');
  const home = mkdtempSync(join(tmpdir(), 'stagi-snippets-'));
  const told: string[] = [];
  for (const [tool, [program, ...args]] of Object.entries(PROGRAMS)) {
    await shown.getByRole('tab', { name: tool }).click();
    const input = await shown.getByRole('tabpanel').locator('code').textContent();
    const said = await new Promise<string>((resolve) => {
      const env = { PATH: `/usr/bin:${process.env.PATH}`, HOME: home };
      const running = execFile(program, args, { timeout: 60_000, env }, (error, stdout, stderr) =>
        resolve(`${stdout}${stderr}${error ?? ''}`),
      );
      running.stdin?.end(input);
    });
    told.push(`${tool} ${said.includes('a b.txt') ? 'finds a b.txt' : `says ${said}`}`);
  }
  rmSync(home, { recursive: true, force: true });
  return told;
}
