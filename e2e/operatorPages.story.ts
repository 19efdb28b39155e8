import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { sweepClouds } from '@stagi/server/src/strays/sweep.ts';
import { type CloudApp, startCloudApp } from '@stagi/server/src/testing/cloudApp.ts';
import { makeOperator } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { onOwnPostgres } from './ownApp.ts';
import { sideways } from './readable.ts';

/** 8 × 4 pixels. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAIAAAA8r+mnAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEUlEQVQImWM4w+CCFTFQTwIAtb4iAZtFvEEAAAAASUVORK5CYII=';
const MARKUP = '<img src=x onerror="document.title=1"> every time';
const LEFT = 'stagi-test-900001';
const LOST = 'stagi-test-900002';

let app: CloudApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await onOwnPostgres(() => startCloudApp()));
});
test.afterAll(() => stop?.());

test('an operator decides about strays, asks a cloud, reads feedback and the logs', async ({ page }) => {
  const olga = await app.signUp('Olga Operator');
  const alice = await app.signUp('Alice');
  await makeOperator(app.ctx, olga);
  await alice.client(api.sshKeys.generate, { title: 'laptop' });
  await alice.client(api.feedback.send, {
    topic: 'Report an issue',
    subject: 'It shows nothing',
    description: MARKUP,
    imageUploads: [{ fileName: 'shot.png', mimeType: 'image/png', contentBase64: PNG }],
  });
  await alice.client(api.feedback.send, { topic: 'Ask a question', subject: 'How much', description: 'is it?' });
  for (const name of [LEFT, LOST])
    await app.control.stray({ name, offerId: 'sim-cpu-4', tags: { env: 'test', resource: name.slice(-6) } });
  await sweepClouds(app.ctx);

  await signIn(page, olga, '/admin/strays');
  await test.step('gives one machine to a workspace and has the other deleted', async () => {
    const rows = page.getByTestId('stray-row');
    await expect(rows).toHaveCount(2);
    await expect(rows.filter({ hasText: LOST }).getByText('Waits for you')).toBeVisible();
    await expectAccessible(page, 'strays');

    await rows
      .filter({ hasText: LOST })
      .getByRole('button', { name: `Actions for ${LOST}` })
      .click();
    await page.getByTestId('action-adopt').click();
    const dialog = page.getByTestId('adopt-dialog');
    await page.getByTestId('adopt-submit').click();
    await expect(dialog.getByText('Offer is required')).toBeVisible();
    await dialog.getByLabel('Id of the workspace').fill(String(alice.workspaceId));
    await dialog.getByRole('combobox', { name: 'Offer' }).click();
    await page.getByRole('option').first().click();
    await dialog.getByLabel('Title').fill('Found again');
    await dialog.getByLabel('Unique ID').fill('found-again');
    await expectAccessible(page, 'adopting a stray');
    await page.getByTestId('adopt-submit').click();
    await expect(page.getByText(`“${LOST}” has been adopted`)).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    const { entities } = await alice.client(api.instances.list, {});
    expect(entities.map(({ slug }) => slug)).toEqual(['found-again']);

    await rows
      .filter({ hasText: LEFT })
      .getByRole('button', { name: `Actions for ${LEFT}` })
      .click();
    await page.getByTestId('action-delete').click();
    await page.getByTestId('confirm-slug').fill(LEFT);
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByText('The machine is deleted with the next look at its cloud')).toBeVisible();
    await expect
      .poll(
        async () => {
          await sweepClouds(app.ctx);
          return (await olga.client(api.strays.list, {})).totalCount;
        },
        { timeout: 30_000 },
      )
      .toBe(0);
    await expect(page.getByText('Every machine has its server')).toBeVisible();
  });

  await test.step('asks a cloud, which answers and then refuses', async () => {
    await section(page, 'Clouds');
    const row = page.getByTestId('provider-row');
    await expect(row).toHaveCount(1);
    await expect(row.getByText('Ready', { exact: true })).toBeVisible();
    await row.getByRole('link', { name: 'Simulated cloud' }).click();
    const panel = page.getByTestId('provider-panel');
    await panel.getByTestId('provider-check').click();
    const steps = panel.getByTestId('check-step');
    await expect(steps).toHaveCount(3);
    await expect(steps.getByText('Done', { exact: true })).toHaveCount(3);
    await expectAccessible(page, 'a cloud');
    await app.control.fault('list', { kind: 'internal' }, null);
    await panel.getByTestId('provider-check').click();
    await expect(steps.getByText('Failed', { exact: true })).toHaveCount(1);
    await app.control.clearFaults();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('reads what people told, as they wrote it', async () => {
    await section(page, 'Feedback');
    const rows = page.getByTestId('feedback-row');
    await expect(rows).toHaveCount(2);
    await page.getByRole('searchbox').fill('shows');
    await expect(rows).toHaveCount(1);
    await rows.getByRole('link', { name: 'It shows nothing' }).click();
    const panel = page.getByTestId('feedback-panel');
    await expect(panel.getByText(MARKUP)).toBeVisible();
    const image = panel.getByRole('img', { name: 'Screenshot 1' });
    await expect.poll(() => image.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(8);
    await expect(panel.getByText(alice.email)).toBeVisible();
    await expectAccessible(page, 'feedback');
    await page.setViewportSize({ width: 360, height: 740 });
    await expectNoSidewaysScroll(page);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expectNoSidewaysScroll(page);
  });

  await test.step('reads what operators did, and what was done in a workspace', async () => {
    await section(page, 'Audit log');
    const rows = page.getByTestId('audit-row');
    await expect(rows.filter({ hasText: 'Checked a cloud' })).toHaveCount(2);
    await expect(rows.filter({ hasText: 'Adopted a stray machine' })).toHaveCount(1);
    await expect(rows.filter({ hasText: 'Had a stray machine deleted' })).toHaveCount(1);
    await expectNoSidewaysScroll(page);
    await page.getByTestId('audit-workspace').fill(String(alice.workspaceId));
    await page.getByTestId('audit-show').click();
    await expect(page.getByText('This is the log of the workspace')).toBeVisible();
    await expect(rows.filter({ hasText: 'Generated an SSH key' })).toHaveCount(1);
    await expectAccessible(page, 'the log of a workspace');
    await expectNoSidewaysScroll(page);
    await page.getByTestId('audit-workspace').fill('999999');
    await page.getByTestId('audit-show').click();
    await expect(page.getByText('This workspace cannot be found')).toBeVisible();
  });
});

async function signIn(page: Page, person: Person, path: string): Promise<void> {
  await page.goto(`${app.url}/configuration.json`);
  await page.evaluate(
    ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
    person.tokens(),
  );
  await page.goto(app.url + path);
}

async function section(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
}

async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await sideways(page)).toBeLessThanOrEqual(0);
}
