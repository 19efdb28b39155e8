import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { aMachine, type Machine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { aGitServer, type GitServer } from '@stagi/server/src/gitHosting/testing/gitServer.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { enrolNode, type TestDaemon } from '@stagi/server/src/testing/daemon.ts';
import { anApiToken } from '@stagi/server/src/testing/factories.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { connectLiveDaemon } from './liveDaemon.ts';
import { followLink } from './navigation.ts';
import { openAs } from './people.ts';

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };

let app: TestApp;
let stop: () => Promise<void>;
let machine: Machine;
let elsewhere: GitServer;
test.beforeAll(async () => {
  machine = aMachine();
  elsewhere = await aGitServer(machine, machine.home);
  const daemons = join(machine.home, 'daemon');
  mkdirSync(daemons);
  writeFileSync(join(daemons, 'stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
  ({ app, stop } = await withOwnDatabase(() =>
    startTestApp({
      STAGI_DAEMON_DIR: daemons,
      GIT_IMPORT_HOSTS: `localhost:${elsewhere.port}`,
      GIT_IMPORT_CA_FILE: elsewhere.caFile,
    }),
  ));
});
test.afterAll(async () => {
  await stop?.();
  await elsewhere?.close();
  machine?.remove();
});

test('a project is created, pushed to by the lines it shows, given a server and a container, archived and deleted', async ({
  browser,
}) => {
  const ada = await app.signUp('Ada Lovelace');
  const { entity: server, daemonToken } = await ada.client(api.selfHosted.create, { title: 'Lab 3', slug: 'lab-3' });
  const daemon = await connectLiveDaemon(app.url, await enrolNode(app.url, daemonToken));
  const page = await openAs(browser, app.url, ada, '/projects');

  await test.step('an empty list leads to the form, which names what is missing', async () => {
    await page.getByTestId('project-create').click();
    const dialog = page.getByTestId('project-dialog');
    await page.getByTestId('project-import-url').fill('http://example.com/a.git');
    await page.getByTestId('project-submit').click();
    await expect(dialog.getByText('Title is required')).toBeVisible();
    await expect(dialog.getByText('Enter an address that begins with https://')).toBeVisible();
    await expectAccessible(page, 'the form of a project');
  });

  await test.step('an empty project shows lines that work as they are pasted', async () => {
    await page.getByTestId('project-import-url').fill('');
    await page.getByLabel('Title').fill('Winter’s trainer');
    await expect(page.getByLabel('Unique ID')).toHaveValue('winter-s-trainer');
    await page.getByLabel('Description').fill('Trains every night');
    await page.getByTestId('project-submit').click();
    await expect(page.getByTestId('project-empty')).toBeVisible();
    await expect(page.getByTestId('project-status')).toHaveText('Ready');
    await expectAccessible(page, 'an empty project');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
    const lines = await page.getByTestId('project-empty').locator('code').first().textContent();
    const { token } = await anApiToken(app.ctx, ada);
    expect(await paste(lines ?? '', token)).toBe(0);
    await expect(page.getByTestId('project-empty')).toBeHidden();
    await expect(page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Code' })).toHaveAttribute(
      'aria-current',
      'page',
    );
  });

  await test.step('its addresses are at hand on every page of it', async () => {
    await tab(page, 'Activity').click();
    await expect(page.getByTestId('project-activity-row').first()).toContainText('Commits pushed');
    await expect(page.getByTestId('project-activity-row').first()).toContainText('main');
    await page.getByTestId('project-clone').click();
    const addresses = page.getByTestId('clone-addresses');
    await expect(addresses).toContainText(`/git/${ada.workspaceId}/winter-s-trainer.git`);
    await addresses.getByRole('tab', { name: 'SSH' }).click();
    await expect(addresses).toContainText('git clone ssh://git@');
    await expectAccessible(page, 'the addresses of a project');
    await page.keyboard.press('Escape');
    await expect(addresses).toBeHidden();
  });

  await test.step('a server is attached, detached, and attached again', async () => {
    await tab(page, 'Instances').click();
    await expect(page.getByText('No servers attached')).toBeVisible();
    await attach(page);
    const row = page.getByTestId('project-instance-row');
    await expect(row).toContainText('Lab 3');
    await expect(tab(page, 'Instances')).toContainText('1');
    await row.getByRole('button', { name: 'Actions for Lab 3' }).click();
    await page.getByTestId('action-detach').click();
    await expect(row).toHaveCount(0);
    await attach(page);
    await expect(row).toHaveCount(1);
    await expectAccessible(page, 'the servers of a project');
  });

  await test.step('a container is created in it', async () => {
    await tab(page, 'Containers').click();
    await page.getByTestId('container-create').click();
    await expect(page.getByRole('combobox', { name: 'Project' })).toHaveText('Winter’s trainer');
    await page.getByLabel('Name', { exact: true }).fill('Night run');
    await page.getByLabel('Image').fill('busybox');
    await page.getByTestId('container-submit').click();
    await expect(page.getByTestId('container-status').first()).toBeVisible();
    await obeys(daemon, 'running');
    await page.getByRole('link', { name: 'Winter’s trainer' }).click();
    await tab(page, 'Containers').click();
    await expect(page.getByTestId('container-row')).toContainText('Night run');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
  });

  await test.step('settings rename it, allow forced pushes and archive it', async () => {
    await tab(page, 'Settings').click();
    await page.getByLabel('Title').fill('Night trainer');
    await page.getByTestId('project-save').click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Night trainer');
    await page.getByTestId('allow-forced-push').check();
    await expect(page.getByTestId('allow-forced-push')).toBeChecked();
    await expectAccessible(page, 'the settings of a project');
    await page.getByTestId('project-archive').click();
    await expect(page.getByText(/^Archived on .*: it can only be read$/)).toBeVisible();
    await expect(page.getByTestId('allow-forced-push')).toBeDisabled();
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
    await page.getByTestId('project-unarchive').click();
    await expect(page.getByTestId('project-archive')).toBeVisible();
  });

  await test.step('deleting names the container that dies, asks for the Unique ID, and waits for it', async () => {
    await page.getByTestId('project-delete').click();
    await expect(page.getByText('The container “Night run” (night-run) on Lab 3')).toBeVisible();
    await expectAccessible(page, 'the question before deleting a project');
    await page.getByTestId('confirm-slug').fill('winter-s-trainer');
    await page.getByTestId('confirm-submit').click();
    await expect(page).toHaveURL(/\/projects$/);
    await expect(page.getByTestId('project-row')).toContainText('Deleting');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await expectAccessible(page, 'the projects');
    await obeys(daemon, 'absent');
    await expect(page.getByTestId('project-row')).toHaveCount(0);
    await expect(page.getByText('No projects yet')).toBeVisible();
    const { entity } = await ada.client(api.selfHosted.view, { id: server.id });
    expect(entity.status).toBe('online');
  });
  await daemon.close();
  await page.context().close();
});

test('a repository is imported, and an import that fails says why', async ({ browser }) => {
  const ada = await app.signUp('Ada Lovelace');
  const folder = await machine.repository('public', 'https://nowhere.example/');
  await machine.ok(['clone', '-q', '--bare', folder, join(machine.home, 'public.git')]);
  const page = await openAs(browser, app.url, ada, '/projects?new=1');

  await test.step('what cannot be imported is told, and another address may be tried', async () => {
    await page.getByLabel('Title').fill('Imported');
    await page.getByTestId('project-import-url').fill(`https://localhost:${elsewhere.port}/absent.git`);
    await page.getByTestId('project-submit').click();
    await expect(page.getByText('The import failed')).toBeVisible();
    await expectAccessible(page, 'an import that failed');
  });

  await test.step('then its code is there', async () => {
    await page.getByTestId('import-url').fill(`https://localhost:${elsewhere.port}/public.git`);
    await page.getByTestId('import-submit').click();
    await expect(page.getByText('The import failed')).toBeHidden();
    await expect(page.getByTestId('project-empty')).toBeHidden();
    await tab(page, 'Activity').click();
    await expect(page.getByTestId('project-activity-row').first()).toContainText('Import finished');
    await followLink(page, '/projects');
    await expect(page.getByTestId('project-row')).toContainText('Add README.md');
  });
  await page.context().close();
});

const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: new RegExp(`^${name}`) });

async function attach(page: Page): Promise<void> {
  await page.getByRole('combobox', { name: 'Server' }).click();
  await page.getByRole('option', { name: 'Lab 3' }).click();
  await page.getByTestId('attach-submit').click();
}

/** The daemon does what it is told, as soon as it is told to bring a container into a state. */
async function obeys(daemon: TestDaemon, wanted: 'running' | 'absent'): Promise<void> {
  daemon.applyDesired(await daemon.desired(({ containers }) => containers.some(({ state }) => state === wanted)));
}

/** Runs lines in a shell whose git is asked for a password. Answers the exit code. */
async function paste(lines: string, token: string): Promise<number | null> {
  const askpass = join(machine.home, 'askpass');
  writeFileSync(askpass, `#!/bin/sh\necho '${token}'\n`);
  chmodSync(askpass, 0o755);
  const { code, stderr } = await machine.run('bash', ['-e'], { input: lines, env: { GIT_ASKPASS: askpass } });
  if (code !== 0) console.log(stderr);
  return code;
}
