import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../fixtures.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg==',
  'base64',
);
const picture = (name: string, mimeType = 'image/png', buffer = PNG) => ({ name, mimeType, buffer });

/** Hands the control files as the browser does at the end of a drag or a paste. */
async function hand(target: Locator, how: 'drop' | 'paste', names: string[]): Promise<void> {
  await target.evaluate(
    (element, given) => {
      const bytes = Uint8Array.from(atob(given.base64), (sign) => sign.charCodeAt(0));
      const data = new DataTransfer();
      for (const name of given.names) data.items.add(new File([bytes], name, { type: 'image/png' }));
      const shared = { bubbles: true, cancelable: true };
      element.dispatchEvent(
        given.how === 'drop'
          ? new DragEvent('drop', { ...shared, dataTransfer: data })
          : new ClipboardEvent('paste', { ...shared, clipboardData: data }),
      );
    },
    { how, names, base64: PNG.toString('base64') },
  );
}

const names = (page: Page) => page.getByTestId('files').locator('li img + span');

test('file input: names, number, size and type, drop and paste, previews given back', async ({ page, platform }) => {
  await page.addInitScript(() => {
    const alive = new Set<string>();
    const { createObjectURL, revokeObjectURL } = URL;
    URL.createObjectURL = (object) => {
      const address = createObjectURL.call(URL, object);
      alive.add(address);
      return address;
    };
    URL.revokeObjectURL = (address) => {
      alive.delete(address);
      revokeObjectURL.call(URL, address);
    };
    Object.assign(window, { previewsAlive: () => alive.size });
  });
  const alive = () => page.evaluate(() => (window as unknown as { previewsAlive(): number }).previewsAlive());
  await page.goto(`${platform.url}/kit/files`);
  const files = page.getByTestId('files');
  const input = page.getByLabel('Screenshots (optional): Up to 3 JPG/PNG files, max 5MB');

  await expect(files.getByText('Add your files here')).toBeVisible();
  await expect(input).toHaveAttribute('name', 'imageUploads');
  await expect(input).toHaveAttribute('accept', 'image/png,image/jpeg');

  await input.setInputFiles([picture('a.png'), picture('b.jpg', 'image/jpeg')]);
  await expect(names(page)).toHaveText(['a.png', 'b.jpg']);
  await expect(page.getByTestId('files-value')).toHaveText(
    JSON.stringify([
      ['a.png', 'image/png', PNG.toString('base64').length],
      ['b.jpg', 'image/jpeg', PNG.toString('base64').length],
    ]),
  );
  await expect(files.getByText('70 B')).toHaveCount(2);
  await expect
    .poll(() =>
      files
        .locator('img')
        .first()
        .evaluate((img: HTMLImageElement) => img.naturalWidth),
    )
    .toBe(1);
  expect(await alive()).toBe(2);

  await test.step('a name that is listed is skipped', async () => {
    await input.setInputFiles([picture('a.png')]);
    await expect(files.getByRole('status')).toHaveText('Already listed: a.png');
    await expect(names(page)).toHaveText(['a.png', 'b.jpg']);
  });

  await test.step('only as many as remain join, dropped ones too', async () => {
    await hand(files.getByText('Add your files here'), 'drop', ['c.png', 'd.png']);
    await expect(names(page)).toHaveText(['a.png', 'b.jpg', 'c.png']);
    await expect(files.getByRole('status')).toHaveText('You can upload a maximum of 3 images.');
    await expect(files.getByText('3 of 3')).toBeVisible();
  });

  await test.step('what goes gives its preview back', async () => {
    expect(await alive()).toBe(3);
    await files.getByRole('button', { name: 'Remove b.jpg' }).click();
    await expect(names(page)).toHaveText(['a.png', 'c.png']);
    await expect(input).toBeFocused();
    await expect.poll(alive).toBe(2);
  });

  await test.step('other types and larger files are refused with the reason', async () => {
    await input.setInputFiles([picture('notes.txt', 'text/plain')]);
    await expect(files.getByRole('status')).toHaveText('notes.txt Only PNG, JPEG files can be added.');
    await input.setInputFiles([picture('huge.png', 'image/png', Buffer.alloc(5 * 1024 * 1024 + 1))]);
    await expect(files.getByText('File is too large. Max allowed size is 5MB.', { exact: true })).toBeVisible();
    await expect(names(page)).toHaveText(['a.png', 'c.png']);
  });

  await test.step('a picture pasted anywhere in the form joins under a name of its own', async () => {
    await hand(page.getByLabel('A field beside it'), 'paste', ['image.png']);
    await expect(names(page)).toHaveText(['a.png', 'c.png', 'pasted-1.png']);
  });

  await test.step('the error belongs to the input, and all previews go with the control', async () => {
    const listed = page.getByTestId('files-listed').getByLabel('Pictures');
    await expect(listed).toHaveAccessibleDescription('You can upload a maximum of 3 images.');
    await expect(listed).toHaveAttribute('aria-invalid', 'true');
    await listed.setInputFiles([picture('x.png'), picture('large.png', 'image/png', Buffer.alloc(1024 * 1024 + 1))]);
    await expect(page.getByText('File is too large. Max allowed size is 1MB.')).toBeVisible();
    expect(await alive()).toBe(4);
    await page.getByRole('button', { name: 'Take the control away' }).click();
    await expect.poll(alive).toBe(3);
    await expect(page.getByLabel('Not now')).toBeDisabled();
  });
});
