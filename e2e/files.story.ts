import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { createDaemon, slugOf, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { findCutOffText, sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openAs } from './people.ts';
import { until } from './waitUntil.ts';

test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const MB = 1024 * 1024;
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let app: TestApp;
let stop: () => Promise<void>;
let folder: string;
let daemon: TestDaemon;

test.beforeAll(async () => {
  await ensureTestImage();
  folder = await mkdtemp(join(tmpdir(), 'stagi-story-files-'));
  const daemons = join(folder, 'daemons');
  mkdirSync(daemons);
  writeFileSync(join(daemons, 'stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ STAGI_DAEMON_DIR: daemons })));
  await mkdir(join(folder, 'volume'));
});
test.afterAll(async () => {
  await daemon?.cleanUp();
  await stop?.();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const onServer = (name: string): string => join(folder, 'volume', name);

test('files of a volume are browsed, edited, uploaded, downloaded and deleted beside a running container', async ({
  browser,
}) => {
  test.setTimeout(240_000);
  const ada = await app.signUp('Ada Lovelace');
  const id = await aRunningContainer(ada);
  const page = await openAs(browser, app.ctx.config.appOrigin, ada, `/cloud/containers/${id}/files`);
  const rows = page.getByTestId('object-row');

  await test.step('what the container writes is listed', async () => {
    await expect(rows.filter({ hasText: 'by-the-container.txt' })).toBeVisible();
    await page.getByRole('link', { name: 'by-the-container.txt' }).click();
    await expect(page.getByTestId('preview-text')).toHaveText(/from inside/);
    await page.keyboard.press('Escape');
  });

  await test.step('a new folder and a new file, edited with a question before changes are lost', async () => {
    await page.getByTestId('new-folder').click();
    await page.getByTestId('file-name').fill('..');
    await page.getByTestId('name-submit').click();
    await expect(page.getByText('“.” and “..” are no names')).toBeVisible();
    await page.getByTestId('file-name').fill('configs');
    await page.getByTestId('name-submit').click();
    await expect(page.getByText('This folder is empty')).toBeVisible();
    await page.getByTestId('new-file').click();
    await page.getByTestId('file-name').fill('run.yaml');
    await page.getByTestId('name-submit').click();
    await page.getByTestId('file-text').fill('steps: 1\n');
    await page.keyboard.press('Escape');
    await expect(page.getByText('Close without saving?')).toBeVisible();
    await page.getByRole('button', { name: 'Cancel' }).last().click();
    await expect(page.getByTestId('file-text')).toHaveValue('steps: 1\n');
    await page.getByTestId('file-save').click();
    await expect.poll(() => readFile(onServer('configs/run.yaml'), 'utf8')).toBe('steps: 1\n');
  });

  await test.step('a file that the container changed meanwhile is not overwritten unasked', async () => {
    await act(page, 'run.yaml', 'action-edit');
    await expect(page.getByTestId('file-text')).toHaveValue('steps: 1\n');
    await writeFile(onServer('configs/run.yaml'), 'steps: 5\n');
    await page.getByTestId('file-text').fill('steps: 2\n');
    await page.getByTestId('file-save').click();
    await expect(page.getByText('This file was changed since it was read').last()).toBeVisible();
    expect(await readFile(onServer('configs/run.yaml'), 'utf8')).toBe('steps: 5\n');
    await expectAccessible(page, 'the editor of a file');
    await page.getByTestId('overwrite').click();
    await expect.poll(() => readFile(onServer('configs/run.yaml'), 'utf8')).toBe('steps: 2\n');
    await expect(page.getByTestId('file-editor')).toBeHidden();
  });

  await test.step('it is renamed, and refused a name that is taken', async () => {
    await writeFile(onServer('configs/taken'), '');
    await act(page, 'run.yaml', 'action-rename');
    await page.getByTestId('file-name').fill('taken');
    await page.getByTestId('name-submit').click();
    await expect(page.getByText('There is something of this name already')).toBeVisible();
    await page.getByTestId('file-name').fill('train.yaml');
    await page.getByTestId('name-submit').click();
    await expect(rows.filter({ hasText: 'train.yaml' })).toBeVisible();
  });

  await test.step('files are uploaded, paused, gone on with, and shown', async () => {
    await page.goto(`${app.ctx.config.appOrigin}/cloud/containers/${id}/files`);
    await page.route('**/docker-container/file/upload/**', (route) => route.abort());
    await page.getByTestId('upload-files').setInputFiles([
      { name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL },
      { name: 'table.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') },
    ]);
    await page.getByRole('button', { name: 'Pause pixel.png' }).click();
    await expect(page.getByTestId('upload-row').filter({ hasText: 'pixel.png' })).toHaveAttribute(
      'data-state',
      'paused',
    );
    await page.unroute('**/docker-container/file/upload/**');
    await page.getByRole('button', { name: 'Go on with pixel.png' }).click();
    await expect(page.getByTestId('upload-queue')).toContainText('2 files uploaded', { timeout: 60_000 });
    expect((await readFile(onServer('pixel.png'))).equals(PIXEL)).toBe(true);
    // Rows stay as they are beneath the pointer.
    await expect(page.getByRole('link', { name: 'table.csv' })).toBeVisible();
    await page.getByRole('link', { name: 'pixel.png' }).click();
    const picture = page.getByTestId('preview-image');
    await expect(picture).toBeVisible();
    expect(await picture.getAttribute('src')).toContain(app.ctx.config.contentOrigin);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'table.csv' }).click();
    await expect(page.getByTestId('preview-csv')).toContainText('1');
    await page.keyboard.press('Escape');
  });

  await test.step('an upload asks before it replaces', async () => {
    await page
      .getByTestId('upload-files')
      .setInputFiles([{ name: 'table.csv', mimeType: 'text/csv', buffer: Buffer.from('new') }]);
    await expect(page.getByText('Replace files of the same name?')).toBeVisible();
    await page.getByTestId('confirm-submit').click();
    await expect.poll(() => readFile(onServer('table.csv'), 'utf8')).toBe('new');
  });

  await test.step('a folder asks before it replaces files further below', async () => {
    const picked = join(folder, 'picked');
    for (const top of [picked, onServer('picked')]) await mkdir(join(top, 'deep'), { recursive: true });
    await writeFile(join(picked, 'deep/same.txt'), 'new');
    await writeFile(join(picked, 'deep/other.txt'), 'other');
    await writeFile(onServer('picked/deep/same.txt'), 'old');
    await page.getByTestId('upload-folder').setInputFiles(picked);
    await expect(page.getByRole('dialog').getByRole('listitem')).toHaveText(['picked/deep/same.txt']);
    expect(await readFile(onServer('picked/deep/same.txt'), 'utf8')).toBe('old');
    await page.getByTestId('confirm-submit').click();
    await expect.poll(() => readFile(onServer('picked/deep/same.txt'), 'utf8')).toBe('new');
    await expect.poll(() => readFile(onServer('picked/deep/other.txt'), 'utf8').catch(() => null)).toBe('other');
  });

  await test.step('an upload goes on by itself after its server was away', async () => {
    const sent = join(folder, 'weights.bin');
    const bytes = randomBytes(20 * MB);
    await writeFile(sent, bytes);
    const offsets: number[] = [];
    await page.route('**/docker-container/file/upload/**', async (route) => {
      const at = Number(new URL(route.request().url()).searchParams.get('at'));
      offsets.push(at);
      if (at > 0 && offsets.length === 2) {
        await daemon.end('SIGKILL');
        daemon.start();
      }
      await route.continue();
    });
    await page.getByTestId('upload-files').setInputFiles(sent);
    const row = page.getByTestId('upload-row').filter({ hasText: 'weights.bin' });
    await expect(row).toHaveAttribute('data-state', 'done', { timeout: 60_000 });
    await page.unroute('**/docker-container/file/upload/**');
    expect((await readFile(onServer('weights.bin'))).equals(bytes)).toBe(true);
    expect(offsets.length, 'a part was sent again').toBeGreaterThan(2);
    expect(
      offsets.filter((at) => at === 0),
      'what had come was kept',
    ).toHaveLength(1);
  });

  await test.step('a file and a folder are downloaded; a link is not', async () => {
    await symlink('/etc/passwd', onServer('passwords'));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect(rows.filter({ hasText: 'passwords' })).toContainText('Symbolic link');
    await rows
      .filter({ hasText: 'passwords' })
      .getByRole('button', { name: /^Actions for/ })
      .click();
    await expect(page.getByTestId('action-download')).toHaveAttribute('aria-disabled', 'true');
    await page.keyboard.press('Escape');
    const [archive] = await Promise.all([downloadOf(page), act(page, 'configs', 'action-download')]);
    expect(archive.name).toBe('configs.zip');
    expect(archive.bytes.subarray(0, 2).toString()).toBe('PK');
  });

  await test.step('the page serves a phone, the keyboard and both themes', async () => {
    await expectAccessible(page, 'files of a container');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    expect(await findCutOffText(page)).toEqual([]);
    await page.setViewportSize(DESK);
  });

  await test.step('what is selected is deleted for good', async () => {
    await act(page, 'configs', 'action-delete');
    await expect(page.getByText('Folders are deleted with all that is in them.')).toBeVisible();
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByText('Files and folders deleted: 3').first()).toBeVisible();
    expect(await readdir(join(folder, 'volume'))).not.toContain('configs');
  });

  await test.step('files stay while the container is stopped; a server that is away says so', async () => {
    await ada.client(api.containers.stop, { id });
    await until('it is stopped', 60_000, async () => {
      const { entity } = await ada.client(api.containers.view, { id });
      return entity.status === 'stopped' || entity.status === 'exited';
    });
    await page.reload();
    await expect(rows.filter({ hasText: 'by-the-container.txt' })).toBeVisible();
    await daemon.end('SIGKILL');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect(
      page.getByText('Its server cannot be reached').or(page.getByText('Its server must be online')).first(),
    ).toBeVisible({
      timeout: 60_000,
    });
  });
});

async function act(page: Page, name: string, action: string): Promise<void> {
  const row = page.getByTestId('object-row').filter({ hasText: name });
  await row.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menu').getByTestId(action).click();
}

/** The download that begins in a tab of its own. */
async function downloadOf(page: Page): Promise<{ name: string; bytes: Buffer }> {
  const download = await new Promise<import('@playwright/test').Download>((resolve) => {
    page.on('download', resolve);
    page.context().on('page', (tab) => tab.on('download', resolve));
  });
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

async function aRunningContainer(ada: Person): Promise<number> {
  const { entity: server, daemonToken } = await ada.client(api.selfHosted.create, { title: 'Lab 3', slug: 'lab-3' });
  daemon = await createDaemon({ node: String(server.id), token: async () => daemonToken });
  daemon.start();
  await until('the server is online', 60_000, async () => {
    const { entity } = await ada.client(api.selfHosted.view, { id: server.id });
    return entity.status === 'online';
  });
  const { entity } = await ada.client(api.containers.create, {
    instanceRef: { id: server.id },
    title: 'Trainer',
    slug: slugOf(1),
    dockerImage: TEST_IMAGE,
    command: `sh -c "echo from inside > /data/by-the-container.txt; sleep 1000"`,
    cpus: 0.5,
    directoryMappings: [{ host: join(folder, 'volume'), container: '/data' }],
  });
  await until('the container runs', 60_000, async () => {
    const { entity: now } = await ada.client(api.containers.view, { id: entity.id });
    return now.status === 'running';
  });
  return entity.id;
}
