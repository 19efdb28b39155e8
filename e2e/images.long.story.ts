import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureTestImage } from '@stagi/daemon/src/testing/image.ts';
import { type PrivateRegistry, PULLER, startPrivateRegistry } from '@stagi/daemon/src/testing/privateRegistry.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { loadSigningKeys } from '@stagi/server/src/sessions/signingKeys.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aSelfHostedServer } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { followLink } from './navigation.ts';
import { openAs } from './people.ts';

test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const PHONE = { width: 360, height: 740 };
/** Ends at once when it is asked to. */
const COMMAND = `sh -c "trap 'exit 0' TERM; while :; do sleep 0.2; done"`;
const DESK = { width: 1280, height: 800 };

let app: TestApp;
let stop: () => Promise<void>;
let folder: string;
let registry: PrivateRegistry;
let daemon: TestDaemon;
test.beforeAll(async () => {
  await ensureTestImage();
  registry = await startPrivateRegistry();
  folder = mkdtempSync(join(tmpdir(), 'stagi-images-story-'));
  mkdirSync(join(folder, 'daemon'));
  writeFileSync(join(folder, 'daemon/stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ STAGI_DAEMON_DIR: join(folder, 'daemon') })));
});
test.afterAll(async () => {
  await daemon?.cleanUp();
  await stop?.();
  await registry?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a private image is pulled, saved as a template, used again and removed', async ({ browser }) => {
  test.setTimeout(180_000);
  const ada = await app.signUp('Ada Lovelace');
  const serverId = await ownServer(ada);
  const image = await registry.push(`story-${process.pid}:1`, [4_000_000, 2_000_000]);
  const page = await openAs(browser, app.ctx.config.appOrigin, ada, `/cloud/containers?new=1&server=${serverId}`);

  await test.step('the form begins with a choice of templates', async () => {
    await chooseTemplate(page, 'VS Code Server');
    await expect(page).toHaveURL(/template=code-server/);
    await expect(page.getByTestId('container-image')).toHaveValue(/code-server:/);
    await page.getByTestId('container-submit').click();
    await expect(page.getByText('Value is required')).toBeVisible();
    await expect(page.getByTestId('template-vllm')).toBeDisabled();
    await expect(page.getByText('Needs a server with a GPU').first()).toBeVisible();
    await expectAccessible(page, 'the form of a container with its templates');
    await onPhone(page);
    await chooseTemplate(page, 'Start from scratch');
    await expect(page.getByTestId('container-image')).toHaveValue('');
  });

  await test.step('a wrong credential is refused, and a changed one is tried at once', async () => {
    await page.getByLabel('Name', { exact: true }).fill('Private');
    await page.getByLabel('Unique ID').fill(`private-${process.pid}`);
    await page.getByTestId('container-image').fill(image);
    await page.keyboard.press('Tab');
    await page.getByLabel('Command', { exact: true }).fill(COMMAND);
    await page.getByTestId('registries-open').click();
    await page.getByTestId('registry-host').fill(`https://${registry.host}`);
    await page.getByTestId('registry-username').fill(PULLER.username);
    await page.getByTestId('registry-secret').fill('wrong');
    await page.getByTestId('registry-submit').click();
    await expect(page.getByText('Enter the host alone, without https:// and without a path')).toBeVisible();
    await expect(page.getByTestId('registry-secret')).toHaveValue('wrong');
    await page.getByTestId('registry-host').fill(registry.host);
    await page.getByTestId('registry-submit').click();
    await expect(page.getByTestId('registry-row')).toContainText(registry.host);
    await expect(page.getByTestId('registry-row')).toContainText('For: Rented instances');
    await expectAccessible(page, 'the credentials of registries');
    await onPhone(page);
    await page.keyboard.press('Escape');
    await page.getByTestId('container-submit').click();
    await expect(page).toHaveURL(/\/cloud\/containers\/\d+/);
    const refusal = `The registry refused the user name and password for ${registry.host}`;
    await expect(page.getByText(refusal, { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Change the credential' }).click();
    await expect(page.getByTestId('registry-host')).toHaveValue(registry.host);
    await page.getByTestId('registry-username').fill(PULLER.username);
    await page.getByTestId('registry-secret').fill(PULLER.password);
    await page.getByTestId('registry-submit').click();
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('container-status').first()).toHaveText(/running/i);
  });

  await test.step('it is saved as a template, and another container is made from it', async () => {
    await openMenu(page, 'template');
    await page.getByLabel('Title').fill('Our private one');
    await page.getByTestId('template-submit').click();
    await expect(page.getByText('The template “Our private one” has been saved')).toBeVisible();
    await followLink(page, `/cloud/containers?new=1&server=${serverId}`);
    await chooseTemplate(page, 'Our private one');
    await expect(page.getByTestId('container-image')).toHaveValue(image);
    await expect(page.getByLabel('Command', { exact: true })).toHaveValue(COMMAND);
    await page.getByRole('button', { name: 'Delete the template' }).click();
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByRole('radio', { name: 'Our private one' })).toHaveCount(0);
  });

  await test.step('its image is not removed while it is in use, and after that it is', async () => {
    await followLink(page, `/cloud/self-instances/${serverId}/images`);
    const row = page.getByTestId('image-row').filter({ hasText: image });
    await expect(row).toContainText('Private');
    await expectAccessible(page, 'the images of a server');
    await onPhone(page);
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await expect(page.getByTestId('action-remove')).toHaveAttribute('aria-disabled', 'true');
    await page.keyboard.press('Escape');

    const { entities } = await ada.client(api.containers.list, {});
    await ada.client(api.containers.delete, { id: entities[0]!.id });
    await expect(row).not.toContainText('Private');
    await page.getByTestId('images-prune').click();
    await expect(page.getByTestId('prune-frees')).toContainText(/about 6(\.\d)? MB/);
    await expectAccessible(page, 'what the removal of images frees');
    await onPhone(page);
    await page.getByTestId('prune-submit').click();
    await expect(page.getByText('Unused images were removed')).toBeVisible();
    await expect(row).toHaveCount(0);
  });
});

/** The label covers the whole card. */
const chooseTemplate = (page: Page, title: string) =>
  page.getByTestId('template-cards').getByText(title, { exact: true }).click();

async function onPhone(page: Page): Promise<void> {
  await page.setViewportSize(PHONE);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await page.setViewportSize(DESK);
}

/** An action of the page, wherever its width has put it. */
async function openMenu(page: Page, action: string): Promise<void> {
  const button = page.getByTestId(`action-${action}`);
  const more = page.getByRole('button', { name: /more actions/i });
  await expect(button.or(more).filter({ visible: true }).first()).toBeVisible();
  if (!(await button.isVisible())) await more.click();
  await button.click();
}

async function ownServer(ada: Person): Promise<number> {
  const { db, secrets } = app.ctx;
  const id = await aSelfHostedServer(app.ctx, ada);
  const signing = { keys: await loadSigningKeys(db, secrets), daemonOrigin: app.url };
  const { token } = await issueEnrolment(signing, db, id, 'self-hosted');
  daemon = await createDaemon({ node: String(id), token: async () => token });
  daemon.start();
  return id;
}
