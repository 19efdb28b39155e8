import { api } from '@stagi/contract/api.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { makeOperator } from '@stagi/server/src/testing/factories.ts';
import { expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { expectNoSidewaysScroll } from './operatorSections.ts';
import { enter } from './people.ts';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());

test('an operator adds a model with its source, changes a shipped one, and takes both back', async ({ page }) => {
  const olga = await app.signUp('Olga Operator');
  await makeOperator(app.ctx, olga);
  await enter(page, app.url, olga, '/admin/models');
  const rows = page.getByTestId('entry-row');
  await expect(rows.first()).toBeVisible();
  await expectAccessible(page, 'the catalogue of operators');
  await page.getByTestId('model-add').click();
  const dialog = page.getByTestId('entry-dialog');
  await dialog.getByTestId('entry-submit').click();
  await expect(dialog.getByText('Title is required')).toBeVisible();
  await expect(dialog.getByText('Source is required')).toBeVisible();
  await dialog.getByRole('textbox', { name: 'Repository', exact: true }).first().fill('acme/Walrus-7B');
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Walrus 7B');
  await dialog.getByRole('textbox', { name: 'Publisher' }).fill('Acme');
  await dialog
    .getByRole('combobox', { name: 'Task' })
    .or(dialog.getByRole('button', { name: 'Task' }))
    .click();
  await page.getByRole('option', { name: 'Code' }).click();
  await dialog.getByRole('textbox', { name: 'Parameters', exact: true }).fill('7,000,000,000');
  await expect(dialog.getByText('7B', { exact: true })).toBeVisible();
  await expect(dialog.getByTestId('entry-preview').getByText('14 GB')).toBeVisible();
  await dialog.getByPlaceholder('owner/name').fill('acme/Walrus-7B');
  await dialog.getByTestId('add-files').click();
  await dialog
    .getByRole('button', { name: 'Precision' })
    .or(dialog.getByRole('combobox', { name: 'Precision' }))
    .last()
    .click();
  await page.getByRole('option', { name: 'gguf' }).click();
  await dialog.getByPlaceholder('owner/name').last().fill('acme/Walrus-7B-GGUF');
  await dialog.getByPlaceholder('Q4_K_M, Q8_0').fill('Q4_K_M, -x');
  await dialog.getByPlaceholder('https://').fill('http://example.com');
  await dialog.getByPlaceholder('What it tells').fill('its model card');
  await dialog.getByTestId('entry-submit').click();
  await expect(dialog.getByText('Enter an address that begins with https://')).toBeVisible();
  await expect(dialog.getByText('A file is named like Q4_K_M')).toBeVisible();
  await dialog.getByPlaceholder('Q4_K_M, Q8_0').fill('Q4_K_M');
  await expectAccessible(page, 'the form of a model');
  await page.keyboard.press('Escape');
  await expect(page.getByText('Close without saving?')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await dialog.getByPlaceholder('https://').fill('https://example.com/card');
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await dialog.getByTestId('entry-submit').click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(rows.first()).toContainText('Walrus 7B');
  await expect(rows.first().getByText('Added', { exact: true })).toBeVisible();
  expect((await app.anonymous(api.models.view, { name: 'walrus-7b' })).entity.publisher).toBe('Acme');

  await page.getByRole('searchbox').fill('Llama-3.1-8B-Instruct');
  await expect(rows).toHaveCount(1);
  await rows.getByRole('button', { name: 'Llama 3.1 8B Instruct', exact: true }).click();
  const context = dialog.getByRole('textbox', { name: 'Context in tokens' });
  await expect(context).toHaveValue('131072');
  await context.fill('65,536');
  await expect(dialog.getByText('Shipped: 131,072')).toBeVisible();
  // Another operator saves first: what is typed here stays, and is saved over theirs.
  const modelId = 'meta-llama/Llama-3.1-8B-Instruct';
  await olga.client(api.adminModels.edit, {
    modelId,
    version: null,
    fields: { licence: 'mit' },
    source: [{ computed: 'twice the half' }],
  });
  await dialog.getByPlaceholder('https://').fill('https://example.com/card');
  await dialog.getByPlaceholder('What it tells').fill('the context');
  await dialog.getByTestId('entry-submit').click();
  await expect(dialog.getByText('Somebody else has changed this model meanwhile', { exact: true })).toBeVisible();
  await expect(context).toHaveValue('65,536');
  await expect(dialog.getByRole('textbox', { name: 'How it was computed' })).toHaveValue('twice the half');
  await dialog.getByTestId('entry-submit').click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(rows.getByText('contextLength, licence')).toBeVisible();
  const { entity } = await app.anonymous(api.models.view, { id: modelId });
  expect([entity.contextLength, entity.licence, entity.change?.source.length]).toEqual([65_536, 'mit', 2]);

  await rows.getByRole('button', { name: 'Llama 3.1 8B Instruct', exact: true }).click();
  await dialog.getByRole('button', { name: 'Reset Context in tokens' }).click();
  await expect(context).toHaveValue('131072');
  await dialog.getByTestId('entry-submit').click();
  await expect(rows.getByText('licence', { exact: true })).toBeVisible();
  await rows.getByRole('button', { name: 'Actions for Llama 3.1 8B Instruct' }).click();
  await page.getByTestId('action-delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove the changes' }).click();
  await expect(rows.getByText('As shipped', { exact: true })).toBeVisible();
  expect((await app.anonymous(api.models.view, { id: modelId })).entity.change).toBeNull();
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1280, height: 800 });
});
