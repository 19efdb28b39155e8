import { api } from '@stagi/contract/api.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { makeOperator } from '@stagi/server/src/testing/factories.ts';
import { expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { expectNoSidewaysScroll, section } from './operatorSections.ts';
import { enter } from './people.ts';

/** 8 × 4 pixels. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAIAAAA8r+mnAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEUlEQVQImWM4w+CCFTFQTwIAtb4iAZtFvEEAAAAASUVORK5CYII=';
const MARKUP = '<img src=x onerror="document.title=1"> every time';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());

test('an operator reads what people tell and what the site lacks', async ({ page }) => {
  const olga = await app.signUp('Olga Operator');
  const alice = await app.signUp('Alice');
  await makeOperator(app.ctx, olga);
  await alice.client(api.feedback.send, {
    topic: 'Report an issue',
    subject: 'It shows nothing',
    description: MARKUP,
    imageUploads: [{ fileName: 'shot.png', mimeType: 'image/png', contentBase64: PNG }],
  });
  await alice.client(api.feedback.send, { topic: 'Ask a question', subject: 'How much', description: 'is it?' });
  await app.anonymous(api.contact.send, {
    topic: 'A model',
    name: 'Vera Visitor',
    email: 'vera?bcc=x@example.org',
    message: `${MARKUP}\nand a second line`,
    about: { model: { id: 'qwen/qwen3-8b', name: 'Qwen3 8B' }, gpu: 'H100 80GB' },
  });
  await app.anonymous(api.contact.send, {
    topic: 'A demo',
    name: 'Dora Demo',
    email: 'dora@example.org',
    message: 'Dear webmaster, we rank your website. Limited time offer.',
  });
  await alice.client(api.contact.send, { topic: 'Help', name: 'Alice', email: alice.email, message: 'Where is it?' });

  await enter(page, app.url, olga, '/admin/feedback');
  await test.step('reads what people told, as they wrote it', async () => {
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

  await test.step('answers a visitor who wrote with the contact form, and says so', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await section(page, 'Contact requests');
    const rows = page.getByTestId('contact-row');
    await expect(rows).toHaveCount(3);
    const demo = rows.filter({ hasText: 'Dora Demo' });
    await expect(demo).toContainText('A demo');
    await expect(demo).toContainText('Looks automated');
    await expect(page.getByText('They are not mailed, as SUPPORT_EMAIL is not set.')).toBeVisible();
    await expectAccessible(page, 'contact requests');
    await rows.getByRole('link', { name: 'Vera Visitor' }).click();
    const panel = page.getByTestId('contact-panel');
    await expect(panel.getByText(`${MARKUP}\nand a second line`)).toBeVisible();
    await expect(panel.getByText('Qwen3 8B')).toBeVisible();
    await expect(panel.getByRole('link', { name: 'vera?bcc=x@example.org' })).toHaveAttribute(
      'href',
      'mailto:vera%3Fbcc%3Dx@example.org',
    );
    await panel.getByTestId('panel-action-handle').click();
    const dialog = page.getByTestId('contact-note');
    await dialog.getByRole('textbox').fill('Called her');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(dialog.getByRole('textbox')).toHaveValue('Called her');
    await dialog.getByTestId('contact-note-submit').click();
    await expect(panel.getByText('Called her')).toBeVisible();
    await expect(panel.getByText('Handled', { exact: true })).toBeVisible();
    await expectAccessible(page, 'a contact request');
    await page.setViewportSize({ width: 360, height: 740 });
    await expectNoSidewaysScroll(page);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expectNoSidewaysScroll(page);
    await page.getByRole('button', { name: 'Status' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Not handled' }).click();
    await expect(rows).toHaveCount(2);
    await expect(rows.filter({ hasText: 'Alice' })).toHaveCount(1);
    await page.keyboard.press('Escape');
  });

  await test.step('sees what the site lacks', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await section(page, 'Site');
    await expect(page.getByRole('heading', { level: 1, name: 'Site' })).toBeVisible();
    const row = (variable: string) => page.getByTestId('setting-row').filter({ hasText: variable });
    await expect(row('OPERATOR_NAME')).toContainText('Not set');
    await expect(row('OPERATOR_NAME')).toContainText('The legal pages do not say who runs this platform.');
    await expectAccessible(page, 'the configuration of the site');
    await page.setViewportSize({ width: 360, height: 740 });
    await expectNoSidewaysScroll(page);
  });
});
