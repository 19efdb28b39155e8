import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { LINKED_OBJECT } from '@stagi/contract/storageSnippets.ts';
import { credit } from '@stagi/server/src/billing/meteredWorkspace.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { sql } from 'kysely';
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
    await page.getByLabel('Title').fill('Winter data');
    await setsSize(dialog, '51', 'Your plan allows 50 GB of storage in total; 0 GB are taken');
    await setsSize(dialog, '', 'Size is required');
    await setsSize(dialog, '10001', 'Size must be between 1 and 10,000 GB');
    await dialog.getByRole('slider').press('Home');
    await expect(dialog.getByTestId('storage-size')).toHaveValue('1');
    await typeSize(dialog, '10');
    await expect(dialog.getByRole('slider')).toHaveAttribute('aria-valuenow', '10');
    await expectAccessible(page, 'the form of a storage');
  });

  await test.step('it is rented within seconds', async () => {
    await expect(page.getByLabel('Unique ID')).toHaveValue('winter-data');
    await page.getByTestId('storage-submit').click();
    await expect(page.getByTestId('storage-status')).toHaveText('Rented', SLOW);
    await expect(page.getByText('s3://winter-data', { exact: true })).toBeVisible();
    await expectAccessible(page, 'a storage');
  });

  await test.step('its use over time is told by pointer and keys, and as a table', async () => {
    await sql`insert into storage_sample (storage_id, at, used_bytes, object_count)
      select id, now() - interval '2 hours', 1500000000, 3 from storage where slug = 'winter-data'`.execute(app.ctx.db);
    await page.reload();
    const chart = page.getByTestId('storage-usage');
    const told = page.getByTestId('storage-usage-told');
    await chart.hover({ position: { x: 2, y: 20 } });
    await expect(told).toContainText('1.5 GB · 3 objects');
    await page.mouse.move(0, 0);
    await expect(told).toBeHidden();
    await chart.focus();
    await expect(chart).toHaveAttribute('aria-valuetext', /0 B · 0 objects$/);
    await chart.press('Home');
    await expect(chart).toHaveAttribute('aria-valuetext', /1\.5 GB · 3 objects$/);
    await page.getByText('Show as table').click();
    const rows = page.getByRole('region', { name: 'Used over time' }).getByRole('row');
    await expect(rows.first()).toContainText('Objects');
    await expect(rows.last()).toContainText('1.5 GB');
    await expectAccessible(page, 'the use of a storage as a table');
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
    const linked = await ada.client(api.storages.uploadLink, { id, key: LINKED_OBJECT });
    expect((await fetch(linked.link, { method: 'PUT', body: 'linked' })).status).toBe(200);
    expect(await runSnippets(page)).toEqual(Object.keys(PROGRAMS).map((tool) => `${tool} finds a b.txt`));
    await expectAccessible(page, 'a new key');
    await page.getByTestId('key-download').click();
    await page.getByTestId('key-done').click();
    await expect(page.getByTestId('key-row')).toContainText('backup');
    await expect(page.getByText(secret)).toHaveCount(0);
  });

  await test.step('a size below what is stored is refused before it is sent, a larger one shows its price before it is chosen', async () => {
    const { used_bytes: usedBytes } = await app.ctx.db
      .selectFrom('s3_bucket')
      .select('used_bytes')
      .where('name', '=', 'winter-data')
      .executeTakeFirstOrThrow();
    const holds = (bytes: number | bigint) =>
      sql`update s3_bucket set used_bytes = ${bytes} where name = 'winter-data'`.execute(app.ctx.db);
    await holds(2_500_000_000);
    await page.reload();
    let sent = 0;
    page.on('request', (request) => {
      if (request.url().includes('storage/edit')) sent += 1;
    });
    await page.getByTestId('action-resize').click();
    const dialog = page.getByTestId('resize-dialog');
    await setsSize(dialog, '2', 'The size cannot be less than what is stored: 3 GB');
    expect(sent).toBe(0);
    await typeSize(dialog, '20');
    await expect(dialog.getByText('0.40 STAGI')).toBeVisible();
    await page.getByTestId('resize-submit').click();
    await expect(page.getByText('The storage has been resized')).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    expect(sent).toBe(1);
    await holds(usedBytes);
  });

  await test.step('a phone has room for list and keys', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.goto(`${app.url}/cloud/storages`);
    await expect(page.getByTestId('storage-row')).toContainText('of 20 GB', SLOW);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await expectAccessible(page, 'the storages');
    await page.getByRole('button', { name: 'Kind', exact: true }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Log bucket' }).click();
    await expect(page).toHaveURL(/kind=log/);
    await page.keyboard.press('Escape');
    await expect(page.getByText('No storage matches')).toBeVisible();
    await page.getByTestId('clear-filters').click();
    await expect(page.getByTestId('storage-row')).toHaveCount(1);
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

/** Sends a size that cannot be; the message stands at the field, which has the cursor. */
async function setsSize(dialog: Locator, typed: string, message: string): Promise<void> {
  const box = await typeSize(dialog, typed);
  await box.press('Enter');
  await expect(dialog.getByText(message)).toBeVisible();
  await expect(box).toBeFocused();
}

/** Key by key: the control reads what was typed from where the cursor was. */
async function typeSize(dialog: Locator, typed: string): Promise<Locator> {
  const box = dialog.getByTestId('storage-size');
  await box.press('ControlOrMeta+a');
  await box.press('Delete');
  await box.pressSequentially(typed);
  return box;
}

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
