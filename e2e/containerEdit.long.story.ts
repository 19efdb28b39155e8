import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { docker, ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { startRegistry } from '@stagi/daemon/src/testing/registry.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { loadSigningKeys } from '@stagi/server/src/sessions/signingKeys.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { followLink } from './navigation.ts';
import { openAs } from './people.ts';
import { until } from './waitUntil.ts';

test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };
const SLUG = `edited-${process.pid}`;
const SECRET = 'canary-51c7e2';

let app: TestApp;
let stop: () => Promise<void>;
let daemon: TestDaemon;
/** Where events for analytics go. */
const ingestion = createServer((_request, response) => response.end());
test.beforeAll(async () => {
  await ensureTestImage();
  await new Promise<void>((listening) => ingestion.listen(0, '127.0.0.1', listening));
  const analytics = {
    ANALYTICS_URL: `http://127.0.0.1:${(ingestion.address() as AddressInfo).port}/`,
    ANALYTICS_HOSTS: '[{"host":"localhost:{env}","key":"key"},{"host":"127.0.0.1:{env}","key":"key"}]',
  };
  ({ app, stop } = await withOwnDatabase(() => startTestApp(analytics)));
});
test.afterAll(async () => {
  await daemon?.cleanUp();
  await stop?.();
  ingestion.close();
});

test('a container is changed, a change that fails is undone, and one like it is made', async ({ browser }) => {
  test.setTimeout(120_000);
  const ada = await app.signUp('Ada Lovelace');
  const container = await aRunningContainer(ada);
  const page = await openAs(browser, app.ctx.config.appOrigin, ada, `/cloud/containers/${container.id}`);
  const first = await inspect(SLUG);

  await test.step('the form says what is kept and lost, and keeps what was typed when it is refused', async () => {
    await page.getByTestId('action-edit').click();
    await expect(page.getByText('Any change except to its name or project recreates the container')).toBeVisible();
    await expect(page.getByText('Kept: its Unique ID and address, its volumes and its logs.')).toBeVisible();
    const values = page.getByLabel('Value of the variable');
    await expect(values.nth(0)).toHaveAttribute('placeholder', 'unchanged');
    await expect(values.nth(0)).toHaveValue('');
    await values.nth(1).fill('quick');
    await page.getByLabel('Memory, GB').fill('4000');
    await page.getByTestId('container-save').click();
    await expect(page.getByText(/This server allows at most/)).toBeVisible();
    await expect(values.nth(1)).toHaveValue('quick');
    await page.getByLabel('Memory, GB').fill('');
    await page.getByLabel('Health check').fill('true');
    await page.getByLabel('Check every, s').fill('1');
    await expectAccessible(page, 'the form of an edited container');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
  });

  await test.step('it is recreated with what was changed, keeps its name, and its secret is masked', async () => {
    await page.getByTestId('container-save').click();
    await expect(page).toHaveURL(new RegExp(`/cloud/containers/${container.id}$`));
    await until('the changed container runs', 60_000, async () => (await inspect(SLUG))?.Id !== first?.Id);
    await expect(page.getByTestId('container-status').first()).toHaveText(/running/i);
    await expect(page.getByText('Healthy')).toBeVisible();
    const { Config } = (await inspect(SLUG))!;
    expect(Config.Env).toEqual(expect.arrayContaining([`TOKEN=${SECRET}`, 'MODE=quick']));
    await followLink(page, `/cloud/containers/${container.id}/logs`);
    await expect(page.getByTestId('log-lines')).toContainText('slow with ***');
    await expect(page.getByTestId('log-lines')).toContainText('quick with ***');
    await expect(page.getByTestId('log-lines')).not.toContainText(SECRET);
  });

  await test.step('an image that cannot be pulled leaves it running, and the change is undone', async () => {
    const registry = await startRegistry();
    const before = await inspect(SLUG);
    await followLink(page, `/cloud/containers/${container.id}/edit`);
    await page.getByLabel('Image').fill(`${registry.host}/missing:1`);
    await page.keyboard.press('Tab');
    await page.getByTestId('container-save').click();
    const failed = page.getByRole('alert').filter({ hasText: 'The change is not applied' });
    await expect(failed).toContainText(`${registry.host}/missing:1 was not found in its registry`);
    await expect(failed).toContainText('The container goes on as it was.');
    await expect(page.getByTestId('container-status').first()).toHaveText(/running/i);
    await expectAccessible(page, 'a change that failed');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
    await page.getByTestId('edit-undo').click();
    await expect(page.getByTestId('pending-edit')).toHaveCount(0);
    await expect(page.getByText(TEST_IMAGE).first()).toBeVisible();
    const after = await inspect(SLUG);
    expect([after?.Id, after?.State.StartedAt]).toEqual([before?.Id, before?.State.StartedAt]);
    await registry.close();
  });

  await test.step('a clone is filled in, and gets hidden values on the platform', async () => {
    const events = clonesOf(page);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByTestId('action-clone').click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Clone a container');
    await expect(page.getByLabel('Unique ID')).toHaveValue(`${SLUG}-copy`);
    await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Job (copy)');
    await page.getByLabel('Value of the variable').nth(1).fill('cloned');
    await page.getByTestId('container-submit').click();
    await expect(page).toHaveURL(/\/cloud\/containers\/\d+$/);
    await expect(page.getByTestId('container-status').first()).toHaveText(/running/i);
    const clone = await inspect(`${SLUG}-copy`);
    expect(clone?.Config.Env).toEqual(expect.arrayContaining([`TOKEN=${SECRET}`, 'MODE=cloned']));
    expect((await inspect(SLUG))?.State.Running).toBe(true);
    const id = Number(new URL(page.url()).pathname.split('/').at(-1));
    await expect.poll(() => events).toEqual([{ clone_ID: id }]);
  });

  await test.step('it is saved as a template without values, and one is made from that', async () => {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByTestId('action-template').click();
    await page.getByLabel('Title').fill('Greeter');
    await page.getByTestId('template-submit').click();
    await expect(page.getByText('The template “Greeter” has been saved')).toBeVisible();
    await followLink(page, '/cloud/containers');
    await page.getByTestId('container-create').click();
    await page.getByTestId('template-cards').getByText('Greeter', { exact: true }).click();
    await expect(page.getByLabel('Image')).toHaveValue(TEST_IMAGE);
    const values = page.getByLabel('Value of the variable');
    for (const value of [values.nth(0), values.nth(1)]) await expect(value).toHaveValue('');
    await page.getByLabel('Name', { exact: true }).fill('Greeter');
    await page.getByLabel('Unique ID').fill(`${SLUG}-greeter`);
    await page.getByTestId('container-submit').click();
    await expect(page.getByText('Value is required')).toHaveCount(2);
    await expectAccessible(page, 'the form with a template');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
    await values.nth(0).fill('another');
    await values.nth(1).fill('templated');
    await page.getByTestId('container-submit').click();
    await expect(page).toHaveURL(/\/cloud\/containers\/\d+$/);
    await expect(page.getByTestId('container-status').first()).toHaveText(/running/i);
    const made = await inspect(`${SLUG}-greeter`);
    expect(made?.Config.Env).toEqual(expect.arrayContaining(['TOKEN=another', 'MODE=templated']));
  });
});

async function aRunningContainer(ada: Person): Promise<Container> {
  const { db, secrets } = app.ctx;
  const serverId = await aRentedInstance(app.ctx, ada);
  const signing = { keys: await loadSigningKeys(db, secrets), daemonOrigin: app.url };
  const { token } = await issueEnrolment(signing, db, serverId, 'rented');
  daemon = await createDaemon({ node: String(serverId), token: async () => token });
  daemon.start();
  const container = await until('the server takes containers', 60_000, async () => {
    const input = {
      instanceRef: { id: serverId },
      title: 'Job',
      slug: SLUG,
      dockerImage: TEST_IMAGE,
      command: `sh -c 'trap "exit 0" TERM; while :; do echo "$MODE with $TOKEN"; sleep 0.5; done'`,
      env: [
        { name: 'TOKEN', value: SECRET, secret: true },
        { name: 'MODE', value: 'slow' },
      ],
      cpus: 0.1,
    };
    return ada.client(api.containers.create, input).then(
      ({ entity }) => entity,
      () => null,
    );
  });
  await until('the container runs', 60_000, async () => {
    const { entity } = await ada.client(api.containers.view, { id: container.id });
    return entity.status === 'running';
  });
  return container;
}

const inspect = (slug: string) =>
  docker
    .getContainer(`stagi-${slug}`)
    .inspect()
    .catch((error: { statusCode?: number }) => {
      if (error.statusCode === 404) return null;
      throw error;
    });

function clonesOf(page: Page): unknown[] {
  const clones: unknown[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith(`/${api.analytics.event.path}`)) return;
    const { name, properties } = request.postDataJSON() as { name?: string; properties?: unknown };
    if (name === 'container_cloned') clones.push(properties);
  });
  return clones;
}
