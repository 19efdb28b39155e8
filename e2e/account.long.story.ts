import type { Page } from '@playwright/test';
import { mailedCode } from '@stagi/server/src/testing/person.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { signUpInBrowser, typeCode } from './people.ts';

test.use({ viewport: { width: 360, height: 740 } });

/** 8 × 4 pixels. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAIAAAA8r+mnAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEUlEQVQImWM4w+CCFTFQTwIAtb4iAZtFvEEAAAAASUVORK5CYII=',
  'base64',
);

test('somebody shows their picture, moves to another address and deletes their account', async ({ page, platform }) => {
  await page.goto(`${platform.url}/sign-in`);
  const notice = page.getByRole('complementary', { name: 'You are looking at Stagi without an account' });
  await expect(notice).toBeVisible();
  await noSidewaysScroll(page);
  await notice.getByRole('link', { name: 'Sign up' }).click();
  await expect(page).toHaveURL(/\/sign-up$/);
  await expect(notice).toBeVisible();
  await expect(notice.getByRole('link')).toHaveCount(0);

  const { email } = await signUpInBrowser(page, platform, 'Grace Hopper');
  await expect(notice).toHaveCount(0);
  await page.goto(`${platform.url}/profile/account`);
  const picture = page.getByTestId('picture-file');
  await picture.setInputFiles({ name: 'me.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') });
  await expect(page.getByText('Only JPG and PNG images can be uploaded')).toBeVisible();
  await picture.setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: PNG.subarray(0, 60) });
  await expect(page.getByText('This image cannot be read. Use a JPG or PNG of at most 40 megapixels.')).toBeVisible();
  await picture.setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: PNG });
  await expect(page.getByRole('button', { name: 'Change the picture' })).toBeVisible();
  const face = page.locator('main img');
  await expect.poll(() => face.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(256);
  await page.getByRole('button', { name: 'Remove the picture' }).click();
  await expect(page.getByRole('button', { name: 'Add a picture' })).toBeVisible();
  await expect(face).toHaveCount(0);
  await noSidewaysScroll(page);

  const newEmail = `moved-${Date.now()}@example.com`;
  await page.getByRole('button', { name: 'Change the address' }).click();
  const address = page.getByLabel('New email');
  const send = page.getByRole('button', { name: 'Send the code' });
  await address.fill(email);
  await send.click();
  await expect(page.getByText('A new email must differ from the current one')).toBeVisible();
  await address.fill('not an address');
  await send.click();
  await expect(page.getByText('Incorrect email')).toBeVisible();
  await address.fill(newEmail);
  await send.click();
  const asked = page.getByTestId('step-up');
  await expect(asked.getByText(`We sent an 8-digit code to ${email}`)).toBeVisible();
  await noSidewaysScroll(page);
  await asked.getByLabel('Verification code').fill(await mailedCode(platform.url, email));
  await expect(asked).toHaveCount(0);
  await expect(page.getByText(`We sent an email to ${newEmail}`)).toBeVisible();
  const mailed = await mailedCode(platform.url, newEmail);
  await typeCode(page, mailed === '00000000' ? '00000001' : '00000000');
  await expect(page.getByText('Incorrect or expired code')).toBeVisible();
  // Whoever comes back from their mail by a reload goes on where they were.
  await page.reload();
  await expect(page.getByText(`We sent an email to ${newEmail}`)).toBeVisible();
  await noSidewaysScroll(page);
  await typeCode(page, mailed);
  await expect(page.getByText('Your address has been changed')).toBeVisible();
  await expect(page.getByRole('main').getByText(newEmail)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Change the address' })).toBeVisible();
  expect(
    await page.evaluate(
      ([from, to]) => [from, to].map((of) => localStorage.getItem(`activeWorkspace:${of}`) !== null),
      [email, newEmail],
    ),
  ).toEqual([false, true]);

  await page.getByTestId('language-switch').click();
  await page.getByTestId('language-ru').click();
  await page.getByRole('button', { name: 'Удалить аккаунт' }).click();
  const dialog = page.getByRole('dialog', { name: 'Удалить ваш аккаунт?' });
  await expect(dialog.getByText('«Grace Hopper’s workspace» со всем содержимым и балансом 50,00 STAGI')).toBeVisible();
  const confirm = dialog.getByRole('button', { name: 'Удалить аккаунт' });
  await expect(confirm).toBeDisabled();
  await noSidewaysScroll(page);
  await page.getByTestId('confirm-slug').fill(newEmail);
  await confirm.click();
  await expect(page.getByText('Ваш аккаунт удалён')).toBeVisible();
  await expect(page).toHaveURL(`${platform.url}/`);
  expect(
    await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('activeWorkspace'))),
  ).toEqual([]);
});

async function noSidewaysScroll(page: Page): Promise<void> {
  expect(await sideways(page)).toBeLessThanOrEqual(0);
}
