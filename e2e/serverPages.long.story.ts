import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { EDIT_FEATURE, PROTECTIONS_FEATURE } from '@stagi/contract/daemon.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { builtDaemonEnv } from '@stagi/server/src/testing/cloudApp.ts';
import { enrolNode, FACTS } from '@stagi/server/src/testing/daemon.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { connectLiveDaemon } from './liveDaemon.ts';
import { walkTo } from './navigation.ts';
import { openAs } from './people.ts';

const WARNING = 'A hostile container may break out of this server';
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1440, height: 900 };
const vulnerableRunc = { version: '1.1.5+ds1-1+deb12u1', cves: ['CVE-2025-31133'] };

const folder = mkdtempSync(join(tmpdir(), 'stagi-server-pages-'));
let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp(builtDaemonEnv(folder), { role: 'api' })));
});
test.afterAll(async () => {
  await stop?.();
  rmSync(folder, { recursive: true, force: true });
});

test('a server whose runc has holes says what its owner can do, until it is gone', async ({ browser }) => {
  const ada = await app.signUp('Ada Lovelace');
  const { entity: own, daemonToken } = await ada.client(api.selfHosted.create, { title: 'Lab', slug: 'lab' });
  const daemon = await connectLiveDaemon(app.url, await enrolNode(app.url, daemonToken), { facts: { vulnerableRunc } });
  const { entity: seen } = await ada.client(api.selfHosted.view, { id: own.id });
  expect(seen.facts?.vulnerableRunc).toEqual(vulnerableRunc);

  const page = await openAs(browser, app.url, ada, `/cloud/self-instances/${own.id}`);
  const warning = page.getByText(WARNING);
  await expect(warning).toBeVisible();
  await expect(page.getByText('runc 1.1.5+ds1-1+deb12u1, which may be open to CVE-2025-31133')).toBeVisible();
  await expect(
    page.getByText('apt-get update && apt-get install --only-upgrade runc && systemctl restart stagid'),
  ).toBeVisible();
  await expect(page.getByText('apt-get install --only-upgrade containerd.io')).toBeVisible();
  await page.setViewportSize(PHONE);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await ada.client(api.selfHosted.delete, { id: own.id });
  await expect(page.getByText('This server was deleted')).toBeVisible();
  await expect(warning).toHaveCount(0);

  const rented = await aRentedInstance(app.ctx, ada);
  const { db } = app.ctx;
  await db.updateTable('instance').set({ provider: 'local' }).where('id', '=', rented).execute();
  const facts = JSON.stringify({ ...FACTS, vulnerableRunc });
  await db.insertInto('daemon_node').values({ instance_id: rented, facts }).execute();
  await walkTo(page, `/cloud/instances/${rented}`);
  await expect(warning).toBeVisible();
  await expect(page.getByText('Run this as root to install a fixed version once Debian has it')).toBeVisible();
  await expect(page.getByText('docker.com')).toHaveCount(0);
  await ada.client(api.instances.terminate, { id: rented });
  await expect(page.getByText('This server is terminated or terminating')).toBeVisible();
  await expect(warning).toHaveCount(0);
  await daemon.close();
});

test('histories name things, link to their pages and tell the minute', async ({ browser }) => {
  const ada = await app.signUp('Ada Lovelace');
  const id = await aRentedInstance(app.ctx, ada);
  const { entity: key } = await ada.client(api.sshKeys.generate, { title: 'desk' });
  await ada.client(api.instances.addSshKey, { id, sshKeyId: key.id });
  await ada.client(api.sshKeys.delete, { id: key.id });
  const { entity: instance } = await ada.client(api.instances.view, { id });

  const page = await openAs(browser, app.url, ada, `/cloud/instances/${id}/activities`);
  const activities = page.getByTestId('activity-row');
  await expect(activities).toHaveCount(2);
  await expect(activities.last()).toContainText('Ada Lovelace');
  await expect(activities.last()).toContainText('SSH key added');
  await expect(activities.last()).toContainText('desk');
  for (const time of await activities.locator('time').allTextContents())
    expect(time).toMatch(/^\d{2}:\d{2} \d{2}\.\d{2}\.\d{4}$/);
  await page.setViewportSize(PHONE);
  expect(await sideways(page)).toBeLessThanOrEqual(0);

  await walkTo(page, '/profile/team/audit');
  const given = page.getByTestId('audit-row').filter({ hasText: 'Added an SSH key to a server' });
  await expect(given).toContainText('SSH key: desk');
  await expect(given).not.toContainText(`SSH key: ${key.id}`);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await given.getByRole('link', { name: instance.slug }).click();
  await expect(page).toHaveURL(new RegExp(`/cloud/instances/${id}$`));
  await expect(page.getByRole('heading', { level: 1 })).toContainText(instance.title);
});

test('a server that is wide open and a container of before say so, and what ends it', async ({ browser }) => {
  const ada = await app.signUp('Ada Lovelace');
  const page = await openAs(browser, app.url, ada, '/cloud/self-instances');
  await page.getByTestId('self-hosted-create').first().click();
  await page.getByLabel('Title').fill('Lab');
  await page.getByTestId('wizard-next').click();
  const command = page.getByTestId('install-command');
  await expect(command).not.toContainText('--allow-any-folder');
  await page.getByTestId('allow-any-folder').check();
  await expect(command).toContainText('--allow-any-folder');
  await page.setViewportSize(PHONE);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await page.setViewportSize(DESK);

  const { entity: own, daemonToken } = await ada.client(api.selfHosted.create, { title: 'Lab', slug: 'open-lab' });
  const facts = { volumeRoots: ['/'] };
  const features = [EDIT_FEATURE, PROTECTIONS_FEATURE];
  const daemon = await connectLiveDaemon(app.url, await enrolNode(app.url, daemonToken), { facts, features });
  await walkTo(page, `/cloud/self-instances/${own.id}`);
  await expect(page.getByTestId('volumes-wide-open')).toContainText('Volumes may lie anywhere on this server');
  await expect(page.getByTestId('volumes-wide-open')).toContainText('"volumeRoots": ["/srv/stagi"]');
  await page.setViewportSize(PHONE);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await page.setViewportSize(DESK);

  const { entity: container } = await ada.client(api.containers.create, {
    instanceRef: { id: own.id },
    title: 'Notebook',
    slug: 'notebook',
    dockerImage: 'nginx:1.29',
    cpus: 1,
    portMappings: [{ host: 8080, container: 80 }],
    directoryMappings: [{ host: '/srv/data', container: '/data' }],
  });
  daemon.applyDesired(await daemon.desired(({ containers }) => containers.length === 1));
  daemon.inventory.containers = daemon.inventory.containers.map((one) => ({ ...one, protections: [] }));
  daemon.sendInventory();
  await walkTo(page, `/cloud/containers/${container.id}`);
  const unprotected = page.getByTestId('container-unprotected');
  await expect(unprotected).toContainText('less protected than new ones, until it is recreated');
  await expect(unprotected).toContainText('also private ones');
  await page.setViewportSize(PHONE);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await unprotected.getByTestId('port-recreate').click();
  await page.getByTestId('confirm-submit').click();
  daemon.applyDesired(await daemon.desired(({ containers }) => containers.some(({ specNo }) => specNo === 2)));
  await expect(unprotected).toHaveCount(0);
  await daemon.close();
});
