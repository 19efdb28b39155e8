import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { walkTo } from './navigation.ts';
import { enterAsNewPerson } from './people.ts';
import { until } from './waitUntil.ts';

const MIB = 1024 * 1024;
/** Three parts of at most 8 MiB. */
const LARGE_BYTES = 18 * MIB;
const ODD = ' a  b/é+%#?&/ü';
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const SCRIPT = 'document.title = "taken"; parent.postMessage("taken", "*")';

test.use({ viewport: { width: 1280, height: 900 } });

test('objects are uploaded, looked at, shared and deleted in the browser', async ({ page, platform, browser }) => {
  test.setTimeout(240_000);
  const folder = mkdtempSync(join(tmpdir(), 'stagi-objects-'));
  const large = join(folder, 'large.bin');
  writeFileSync(large, numbers(LARGE_BYTES));
  const ada = await enterAsNewPerson(page, platform);
  const storage = await rentStorage(ada);
  const address = `/cloud/storages/${storage.id}/objects`;
  const rows = page.getByTestId('object-row');
  const panel = page.getByTestId('object-panel');
  const uploads = page.getByTestId('upload-row');
  const open = async (path: string) => walkTo(page, path);
  await open(address);

  await test.step('an empty storage teaches how to upload; small files arrive', async () => {
    await expect(page.getByText('No objects yet')).toBeVisible();
    await page.getByTestId('upload-files').setInputFiles([
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('first line\nsecond line') },
      { name: 'data.json', mimeType: 'application/json', buffer: Buffer.from('{"a":[1,2]}') },
      { name: 'table.csv', mimeType: 'text/csv', buffer: Buffer.from('city,people\n"Ankara, TR",5\nPerm,1\n') },
      { name: 'dot.png', mimeType: 'image/png', buffer: PIXEL },
      { name: 'page.html', mimeType: 'text/html', buffer: Buffer.from(`<script>${SCRIPT}</script><h1>x</h1>`) },
      { name: 'drawing.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg()) },
    ]);
    await expect(page.getByTestId('upload-queue')).toContainText('6 files uploaded');
    await expect(rows).toHaveCount(6);
    await page.getByTestId('upload-clear').click();
    await expectAccessible(page, 'objects');
  });

  await test.step('an upload of a known name says that it replaces', async () => {
    await page
      .getByTestId('upload-files')
      .setInputFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('first line\nnew line') }]);
    const dialog = page.getByRole('dialog', { name: /Replace one object/ });
    await expect(dialog).toContainText('notes.txt');
    await dialog.getByTestId('confirm-submit').click();
    await expect(page.getByTestId('upload-queue')).toContainText('One file uploaded');
    await expect(dialog).toBeHidden();
  });

  await test.step('text, JSON, CSV and pictures are previewed; what is active does not run', async () => {
    await openObject('notes.txt');
    await expect(panel.getByTestId('preview-text')).toContainText('new line');
    await expectAccessible(page, 'an object');
    await openObject('data.json');
    await expect(panel.getByTestId('preview-text')).toHaveText('{\n  "a": [\n    1,\n    2\n  ]\n}');
    await openObject('table.csv');
    await expect(panel.getByTestId('preview-csv').getByRole('cell')).toHaveText(['Ankara, TR', '5', 'Perm', '1']);
    await openObject('dot.png');
    await expect.poll(() => widthOf(panel.getByTestId('preview-image'))).toBe(1);
    await openObject('drawing.svg');
    await expect.poll(() => widthOf(panel.getByTestId('preview-image'))).toBe(20);
    await openObject('page.html');
    await expect(panel.getByTestId('preview-text')).toContainText('<script>');
    expect(await page.title()).not.toBe('taken');
    await page.keyboard.press('Escape');
    await expect(panel).toBeHidden();
  });

  await test.step('a link opens an object without an account, runs nothing, and ends when it is revoked', async () => {
    await openObject('drawing.svg');
    await panel.getByTestId('share-create').click();
    const link = (await panel.getByTestId('share-link').locator('code').textContent()) ?? '';
    const visitor = await (await browser.newContext()).newPage();
    const answer = await visitor.goto(link);
    expect(answer?.status()).toBe(200);
    expect(answer?.headers()['content-security-policy']).toContain('sandbox');
    expect(await visitor.evaluate(() => document.documentElement.getAttribute('data-ran'))).toBeNull();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Links to objects' }).click();
    const links = page.getByTestId('share-links');
    await expect(links.getByTestId('share-row')).toContainText('drawing.svg');
    await links.getByRole('button', { name: 'Revoke' }).click();
    await expect(links.getByTestId('share-row')).toHaveCount(0);
    await expect.poll(async () => (await visitor.goto(link))?.status()).not.toBe(200);
    await visitor.context().close();
    await page.keyboard.press('Escape');
  });

  await test.step('a large file is interrupted by a reload, and goes on with the same file', async () => {
    let parts = 0;
    await page.route(/partNumber=/, async (route) => {
      if (route.request().method() !== 'PUT') return route.continue();
      parts += 1;
      // One part arrives, the others hang until the page is gone.
      if (parts === 1) await route.continue();
    });
    await page.getByTestId('upload-files').setInputFiles(large);
    await expect(uploads.filter({ hasText: 'large.bin' })).toHaveAttribute('data-state', 'sending');
    await until('a part is stored', 60_000, async () => (await openUpload(ada, storage))?.parts.length === 1);
    await walkTo(page, '/cloud/instances');
    await walkTo(page, address);
    await expect(uploads.filter({ hasText: 'large.bin' })).toHaveAttribute('data-state', 'sending');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    const interrupted = page.getByTestId('open-upload');
    await expect(interrupted).toContainText('large.bin');
    await interrupted.locator('input').setInputFiles(join(folder, 'large.bin'));
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') sent.push(request.url());
    });
    await expect(page.getByTestId('upload-queue')).toContainText('One file uploaded');
    expect(sent).toHaveLength(2);
    await expect(interrupted).toHaveCount(0);
    const { objects } = await ada.client(api.storages.objects, { id: storage.id, prefix: 'large.bin' });
    expect(objects[0]?.sizeBytes).toBe(LARGE_BYTES);
    expect(objects[0]?.etag).toMatch(/-3$/);
  });

  await test.step('a canceled upload leaves nothing; a failed part is sent again', async () => {
    await page.route(/partNumber=/, () => {});
    writeFileSync(join(folder, 'canceled.bin'), numbers(LARGE_BYTES));
    await page.getByTestId('upload-files').setInputFiles(join(folder, 'canceled.bin'));
    await until('the upload has begun', 60_000, async () => (await openUpload(ada, storage)) !== undefined);
    await page.getByRole('button', { name: 'Cancel canceled.bin' }).click();
    await expect(uploads.filter({ hasText: 'canceled.bin' })).toHaveAttribute('data-state', 'canceled');
    await until('its parts are freed', 60_000, async () => (await openUpload(ada, storage)) === undefined);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    let refused = 0;
    await page.route(/partNumber=2/, async (route) => {
      refused += 1;
      await (refused <= 2 ? route.abort('connectionreset') : route.continue());
    });
    await page.getByRole('button', { name: 'Retry canceled.bin' }).click();
    // The driver is handed the bytes of each part that it may refuse, which takes seconds.
    await expect.poll(() => refused, { timeout: 60_000 }).toBe(3);
    await expect(uploads.filter({ hasText: 'canceled.bin' })).toHaveAttribute('data-state', 'done');
    expect(refused).toBe(3);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  await test.step('a folder arrives with all that is in it, names as they are', async () => {
    const top = join(folder, 'photos');
    for (const below of ['2024/a', 'b c']) mkdirSync(join(top, below), { recursive: true });
    for (const name of ['2024/a/one.txt', '2024/two.txt', 'b c/ three.txt']) writeFileSync(join(top, name), name);
    await page.getByTestId('upload-folder').setInputFiles(top);
    await expect(rows.filter({ hasText: 'photos/' })).toHaveCount(1);
    await drop(page, 'dropped.txt');
    await expect(rows.filter({ hasText: 'dropped.txt' })).toHaveCount(1);
    await rows.filter({ hasText: 'photos/' }).getByRole('link').click();
    await expect(page).toHaveURL(/prefix=photos%2F/);
    await expect(rows).toHaveText([/2024\//, /b c\//]);
    await page.goBack();
    await expect(rows.filter({ hasText: 'notes.txt' })).toHaveCount(1);
    const { link } = await ada.client(api.storages.uploadLink, { id: storage.id, key: ODD });
    expect((await fetch(link, { method: 'PUT', body: 'odd' })).status).toBe(200);
    await open(`${address}?${new URLSearchParams({ prefix: ODD.slice(0, -1) })}`);
    await expect(rows).toHaveCount(1);
    await rows.getByRole('link').click();
    await expect(panel.getByTestId('preview-text')).toHaveText('odd');
    await page.keyboard.press('Escape');
  });

  await test.step('folders are made, searched by prefix, and deleted with a count', async () => {
    await open(address);
    await page.getByTestId('new-folder').click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('empty one');
    await page.getByTestId('name-submit').click();
    await expect(page.getByText('This folder is empty')).toBeVisible();
    await page.getByRole('link', { name: storage.bucket }).click();
    await page.getByRole('searchbox', { name: 'Names that begin with' }).fill('photo');
    await expect(rows).toHaveCount(1);
    await rows.getByRole('checkbox').check();
    await page.getByTestId('bulk-delete').click();
    await expect(page.getByTestId('delete-count')).toContainText('3 objects');
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByText('No name begins with this')).toBeVisible();
    await page.getByTestId('clear-filters').click();
    await expect(rows.filter({ hasText: 'notes.txt' })).toHaveCount(1);
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await page.getByTestId('bulk-delete').click();
    await expect(page.getByTestId('delete-count')).toContainText(/This deletes \d+ objects/);
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByText('No objects yet')).toBeVisible();
    const { objects } = await ada.client(api.storages.objects, { id: storage.id, folders: false });
    expect(objects).toEqual([]);
  });

  await test.step('on a phone the rows are cards and nothing is wider than the screen', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page
      .getByTestId('upload-files')
      .setInputFiles([{ name: `${'long-'.repeat(30)}name.txt`, mimeType: 'text/plain', buffer: Buffer.from('x') }]);
    await expect(rows).toHaveCount(1);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await rows.getByRole('link').click();
    await expect(panel.getByTestId('preview-text')).toHaveText('x');
    expect(await sideways(page)).toBeLessThanOrEqual(0);
  });
  rmSync(folder, { recursive: true, force: true });

  async function openObject(name: string): Promise<void> {
    await open(`${address}?${new URLSearchParams({ object: name })}`);
    await expect(panel).toContainText(name);
  }
});

async function rentStorage(person: Person): Promise<Storage> {
  const slug = `winter-${Date.now()}`;
  const { entity } = await person.client(api.storages.create, {
    title: 'Winter data',
    slug,
    sizeGb: 1,
    location: 'local',
  });
  return until('the storage is rented', 60_000, async () => {
    const { entity: now } = await person.client(api.storages.view, { id: entity.id });
    return now.status === 'rented' ? now : null;
  });
}

async function openUpload(person: Person, storage: Storage) {
  const { uploads } = await person.client(api.storages.openMultiparts, { id: storage.id });
  return uploads[0];
}

/** As a person does who drags a file from the desktop. */
async function drop(page: Page, name: string): Promise<void> {
  const transfer = await page.evaluateHandle((fileName) => {
    const data = new DataTransfer();
    data.items.add(new File(['dropped'], fileName, { type: 'text/plain' }));
    return data;
  }, name);
  await page.getByTestId('drop-zone').dispatchEvent('dragover', { dataTransfer: transfer });
  await page.getByTestId('drop-zone').dispatchEvent('drop', { dataTransfer: transfer });
}

const widthOf = (image: Locator): Promise<number> =>
  image.evaluate((element) => (element as HTMLImageElement).naturalWidth);

const svg = (): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="20" height="20" fill="teal"/>
  <script>document.documentElement.setAttribute("data-ran", "yes")</script></svg>`;

/** Bytes of which no two parts are the same. */
function numbers(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(at, at);
  return bytes;
}
