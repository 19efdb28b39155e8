import type { Locator, Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { enterAsNewPerson } from './people.ts';
import { type Platform, startPlatform } from './platform.ts';
import { type Replies, startScriptedProxy } from './scriptedProxy.ts';

const DEADLINE = { timeout: 20_000 };
const TRACKER = 'https://github.com/stagi/stagi/issues';
const MB = 1024 * 1024;
/** One pixel, whole. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let platform: Platform;
let replies: Replies;

test.beforeAll(async () => {
  platform = await startPlatform('e2efeedback', { LOCAL_CLOUD: 'off', ISSUE_TRACKER_URL: TRACKER });
  replies = await startScriptedProxy(platform);
});
test.afterAll(async () => {
  replies?.stop();
  await platform?.stop();
});

test('a signed-in person sends feedback with screenshots, and loses nothing on the way', async ({ page }) => {
  test.setTimeout(240_000);
  const button = page.getByTestId('feedback-button');
  const menu = page.getByTestId('feedback-menu');
  const dialog = page.getByRole('dialog', { name: 'Spotted a bug? Let us know' });
  const submit = dialog.getByRole('button', { name: 'Submit' });

  await page.goto(`${replies.url}/403`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(button).toHaveCount(0);
  await enterAsNewPerson(page, replies);

  // The menu takes the place of the button.
  await button.click();
  await expect(menu.getByText('Leave Feedback')).toBeVisible();
  await expect(button).toBeHidden();
  await menu.getByRole('button', { name: 'Close' }).click();
  await expect(menu).toHaveCount(0);
  await expect(button).toBeFocused();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await expect(button).toBeFocused();
  await button.click();
  await menu.getByText('or submit feedback here').click();
  await expect(menu).toHaveCount(0);
  await expect(dialog).toBeVisible();
  await expect(dialog.getByRole('link', { name: 'Prefer GitHub? Submit here' })).toHaveAttribute('href', TRACKER);

  // What is missing is said under its field, to the letter.
  await submit.click();
  const missing = [
    'Please choose an option',
    'Subject is required',
    "Please provide a description of the issue you're experiencing",
  ];
  for (const message of missing) await expect(dialog.getByText(message)).toBeVisible();
  await expect(dialog.getByTestId('feedback-topic')).toBeFocused();
  expect(replies.count(api.feedback.send.path)).toBe(0);
  await expect(dialog.getByText('Screenshots (optional): Up to 3 JPG/PNG files, max 5MB')).toBeVisible();
  await expect(
    dialog.getByText('Describe the issue or idea in detail. Include links or steps to reproduce if possible.'),
  ).toBeVisible();

  await dialog.getByTestId('feedback-topic').click();
  await page.getByRole('option', { name: 'Suggest a feature' }).click();
  await expect(dialog.getByText('Please choose an option')).toHaveCount(0);
  await dialog.getByTestId('feedback-topic').hover();
  await dialog.getByRole('button', { name: 'Clear' }).click();
  await expect(dialog.getByText('Please choose an option'), 'a required choice was taken back').toBeVisible();
  await dialog.getByTestId('feedback-topic').click();
  await page.getByRole('option', { name: 'Suggest a feature' }).click();
  await dialog.getByLabel('Subject').fill('x'.repeat(201));
  await expect(dialog.getByText('201 of at most 200 characters')).toBeVisible();
  await submit.click();
  await expect(dialog.getByText('Subject is too long: at most 200 characters')).toBeVisible();
  await expect(dialog.getByLabel('Subject')).toHaveValue('x'.repeat(201));
  await dialog.getByLabel('Subject').fill('Dark logs');
  await dialog.getByLabel('Description').fill('Please');
  await dialog.getByLabel('Contact email').fill('ada@');
  await submit.click();
  await expect(dialog.getByText('Enter a valid email')).toBeVisible();
  await dialog.getByLabel('Contact email').fill('ada@example.com');

  // At most three images of 5 MB. The last of them makes the body larger than other calls may have.
  const png = (name: string, size = PIXEL.length) => ({
    name,
    mimeType: 'image/png',
    buffer: Buffer.concat([PIXEL, Buffer.alloc(size - PIXEL.length)]),
  });
  const files = dialog.locator('input[type="file"]');
  await files.setInputFiles([png('huge.png', 5 * MB + 1)]);
  await expect(dialog.getByText('File is too large. Max allowed size is 5MB.')).toBeVisible();
  await files.setInputFiles([png('1.png'), png('2.png'), png('large.png', 2 * MB), png('4.png')]);
  await expect(dialog.getByText('You can upload a maximum of 3 images.')).toBeVisible();
  await expect(dialog.locator('img')).toHaveCount(3);

  // Closing asks first.
  for (const close of [
    () => page.keyboard.press('Escape'),
    () => dialog.getByRole('button', { name: 'Cancel' }).click(),
  ]) {
    await close();
    const question = page.getByRole('dialog', { name: 'Discard your feedback?' });
    await question.getByRole('button', { name: 'Keep writing' }).click();
    await expect(dialog).toBeVisible();
  }
  await expect(dialog.getByLabel('Subject')).toHaveValue('Dark logs');

  // The session ran out while it was being written.
  await page.evaluate(() => localStorage.setItem('accessToken', 'expired'));
  await submit.click();
  const thanks = page.getByTestId('result-success');
  await expect(thanks).toContainText("Thanks for your feedback! We'll follow up by email if needed.", DEADLINE);
  await expect(dialog).toBeHidden();
  expect(replies.seen.filter((path) => /refresh|feedback/.test(path))).toEqual([
    api.feedback.send.path,
    'auth/exchange-refresh-token',
    api.feedback.send.path,
  ]);
  await thanks.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(button).toBeFocused(DEADLINE);

  await openForm(page, dialog);
  await expect(dialog.getByLabel('Subject')).toHaveValue('');
  await expect(dialog.locator('img')).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(dialog, 'nothing typed, nothing asked').toHaveCount(0);

  // What the server answers, each in its place; the button never stays loading.
  await openForm(page, dialog);
  await fill(page, dialog);
  const refusal = (status: number, more: object = {}) => ({
    status,
    body: { isSuccess: false, message: 'Not like this', ...more },
  });
  replies.next(api.feedback.send.path, refusal(200));
  await submit.click();
  const warning = page.getByTestId('result-warning');
  await expect(warning).toContainText('Something went wrong. Please try again.', DEADLINE);
  await expect(page.getByText('Not like this')).toHaveCount(0);
  await expect(dialog, 'the form has closed').toHaveCount(0);
  await warning.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(button).toBeFocused(DEADLINE);

  await openForm(page, dialog);
  await expect(dialog.getByLabel('Subject')).toHaveValue('');
  await fill(page, dialog);
  replies.next(api.feedback.send.path, refusal(400, { fieldsWithError: ['subject'] }));
  await submit.click();
  await expect(dialog.getByText('Not like this')).toBeVisible(DEADLINE);
  await expect(dialog.getByLabel('Subject')).toHaveAttribute('aria-invalid', 'true');
  replies.next(
    api.feedback.send.path,
    refusal(400, { fieldMessages: { 'imageUploads.0.contentBase64': 'Bad image' } }),
  );
  await submit.click();
  await expect(dialog.getByText('Bad image')).toBeVisible(DEADLINE);
  for (const [scripted, words] of [
    [refusal(500), 'Something goes wrong. Try again!'],
    ['hang up', 'The server cannot be reached'],
  ] as const) {
    replies.next(api.feedback.send.path, scripted);
    await submit.click();
    const toast = page.getByRole('alert').filter({ hasText: words });
    await expect(toast).toHaveCount(1, DEADLINE);
    await toast.getByRole('button').click();
    await expect(submit).not.toHaveAttribute('aria-busy');
    await expect(dialog).toBeVisible();
  }
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(button).toBeFocused(DEADLINE);
});

test('the feedback menu and form are usable by everybody, on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await enterAsNewPerson(page, replies);
  await page.getByTestId('feedback-button').click();
  const menu = page.getByTestId('feedback-menu');
  await expect(menu.getByText('or submit feedback here')).toBeFocused();
  await expectAccessible(page, 'feedback menu');
  await menu.getByText('or submit feedback here').click();
  const dialog = page.getByTestId('feedback-dialog');
  await expect(dialog.getByRole('button', { name: 'Submit' })).toBeVisible();
  await dialog.getByRole('button', { name: 'Submit' }).click();
  await expect(dialog.getByText('Subject is required')).toBeVisible();
  await expectAccessible(page, 'feedback form');
  expect(await sideways(page)).toBeLessThanOrEqual(0);
});

async function openForm(page: Page, dialog: Locator): Promise<void> {
  await page.getByTestId('feedback-button').click();
  await page.getByTestId('feedback-open-form').click();
  await expect(dialog).toBeVisible();
}

async function fill(page: Page, dialog: Locator): Promise<void> {
  await dialog.getByTestId('feedback-topic').click();
  await page.getByRole('option', { name: 'Report an issue' }).click();
  await dialog.getByLabel('Subject').fill('It fails');
  await dialog.getByLabel('Description').fill('Every time');
}
