import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures.ts';

/** Focus and time are what these stories are about: one page for each section, its specimens one after another. */
let page: Page;
test.describe.configure({ mode: 'serial' });
test.beforeAll(async ({ browser, platform }) => {
  page = await browser.newPage();
  await page.goto(`${platform.url}/kit/dialogs`);
});
test.afterAll(() => page.close());

const button = (name: string) => page.getByRole('button', { name, exact: true });
const dialog = (name: string) => page.getByRole('dialog', { name });

test('a dialog has its size, the default buttons, and gives the focus back to its opener', async () => {
  for (const [size, width] of Object.entries({ xs: 400, s: 520, m: 720 })) {
    await button(`Size ${size}`).click();
    await expect(dialog(`Size ${size}`)).toBeVisible();
    await expect(dialog(`Size ${size}`)).toHaveCSS('width', `${width}px`);
    await expect(page.getByLabel('Name')).toBeFocused();
    await expect(button('Submit')).toBeVisible();
    await button('Cancel').click();
    await expect(dialog(`Size ${size}`)).toBeHidden();
    await expect(button(`Size ${size}`)).toBeFocused();
  }
  await button('At the side').click();
  await dialog('At the side').getByRole('button', { name: 'Close' }).click();
  await expect(dialog('At the side')).toBeHidden();
  await expect(button('At the side')).toBeFocused();
});

test('nothing behind a dialog is reached by Tab, in either direction', async () => {
  await button('Size s').click();
  await expect(page.getByLabel('Name')).toBeFocused();
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab']) {
    await page.keyboard.press(key);
    const outside = await page.evaluate(
      () => document.activeElement !== document.body && !document.activeElement?.closest('[role="dialog"]'),
    );
    expect(outside, `after ${key}`).toBe(false);
  }
  await page.keyboard.press('Escape');
  await expect(dialog('Size s')).toBeHidden();
});

test('Escape closes a dialog at once, even while the focus is still outside, but never a persistent one', async () => {
  await button('Size s').focus();
  // Both presses in one task: the dialog is drawn, but has had no time to take the focus.
  await page.evaluate(async () => {
    (document.activeElement as HTMLElement).click();
    await Promise.resolve();
    if (document.body !== document.activeElement && document.activeElement?.closest('[role="dialog"]'))
      throw new Error('the focus was there already');
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  });
  await expect(dialog('Size s')).toBeHidden();
  await button('Size s').click();
  await expect(dialog('Size s')).toBeVisible();
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('Escape');
  await expect(dialog('Size s')).toBeHidden();
  await expect(button('Size s')).toBeFocused();

  await button('Persistent').click();
  await expect(button('Understood')).toBeFocused();
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 400);
  await expect(dialog('Persistent')).toBeVisible();
  await expect(dialog('Persistent').getByRole('button', { name: 'Close' })).toHaveCount(0);
  await button('Understood').click();
  await expect(dialog('Persistent')).toBeHidden();
});

test('a second dialog takes the place of the first and gives it back with what was typed', async () => {
  await button('First dialog').click();
  await page.getByLabel('Name').fill('half a na');
  await button('Second dialog').click();
  await expect(dialog('Second dialog')).toBeVisible();
  await expect(dialog('First dialog')).toBeHidden();
  await page.keyboard.press('Escape');
  await expect(dialog('Second dialog')).toBeHidden();
  await expect(dialog('First dialog')).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('half a na');
  await expect(button('Second dialog')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(dialog('First dialog')).toBeHidden();
  await expect(button('First dialog')).toBeFocused();
});

test('every change of route closes the open dialog', async ({ platform }) => {
  await button('With a link').click();
  await dialog('With a link').getByRole('link', { name: 'Elsewhere' }).click();
  await expect(page).toHaveURL(/\?elsewhere$/);
  await expect(dialog('With a link')).toBeHidden();
  await button('With a link').click();
  await expect(dialog('With a link')).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(/dialogs$/);
  await expect(dialog('With a link')).toBeHidden();

  await button('Shown by the host').click();
  await dialog('Shown by the host').getByRole('link').click();
  await expect(page).toHaveURL(`${platform.url}/kit/buttons`);
  await expect(dialog('Shown by the host')).toHaveCount(0);
  await expect(page.locator('#root')).not.toHaveAttribute('inert');
  await page.goBack();
});

test('a confirmation of what destroys asks for the slug, and a result has one button', async () => {
  await button('Error').click();
  const question = dialog('Terminate “alpha”?');
  await expect(question.getByText('This will be lost:')).toBeVisible();
  await expect(page.getByTestId('confirm-slug')).toBeFocused();
  await expect(page.getByTestId('confirm-submit')).toBeDisabled();
  await page.keyboard.type('alph');
  await page.keyboard.press('Enter');
  await expect(question).toBeVisible();
  await page.keyboard.type('a');
  await page.keyboard.press('Enter');
  await expect(question).toBeHidden();
  for (const variant of ['success', 'warning', 'error']) {
    await button(`Result: ${variant}`).click();
    await expect(dialog(`It ended with ${variant}`).getByRole('button')).toHaveCount(1);
    await page.keyboard.press('Enter');
    await expect(dialog(`It ended with ${variant}`)).toHaveCount(0);
    await expect(button(`Result: ${variant}`)).toBeFocused();
  }
});

test('a tooltip waits 200 ms for the pointer and none for the keyboard; a press or Escape takes it away', async () => {
  await page.getByRole('link', { name: 'overlays', exact: true }).click();
  const target = button('Has a tooltip');
  const words = page.getByRole('tooltip', { name: /Shown 200 ms/ });
  const shownAfter = await waitedFor(
    () => target.hover(),
    () => document.querySelector('[role="tooltip"]') !== null,
  );
  expect(shownAfter).toBeGreaterThanOrEqual(200);
  await expect(words).toBeVisible();
  await target.click();
  await expect(words).toBeHidden();
  await page.mouse.move(0, 0);
  await target.hover();
  await expect(words).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(words).toBeHidden();
  await page.mouse.move(0, 0);
  await page.keyboard.press('Tab');
  await expect(button('Restart')).toBeFocused();
  await expect(page.getByRole('tooltip', { name: 'The server is stopped' })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('tooltip', { name: 'The server is stopped' })).toBeVisible();
  await expect(button('Restart')).toBeDisabled();
});

test('popups stand 5 px from their button, that of the profile 14', async () => {
  for (const [name, words, distance] of [
    ['Popover', '5 px from its button', 5],
    ['Like the profile', '14 px from its button', 14],
  ] as const) {
    await button(name).click();
    const popup = page.getByRole('dialog').filter({ hasText: words });
    await expect(popup).toBeVisible();
    const above = await button(name).boundingBox();
    await expect
      .poll(async () => Math.round(((await popup.boundingBox())?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0)))
      .toBe(distance);
    await page.keyboard.press('Escape');
    await expect(popup).toHaveCount(0);
    await expect(button(name)).toBeFocused();
  }
});

test('a menu goes by keyboard, tells why an item is impossible, and hides 400 ms after the pointer left', async () => {
  await button('Menu').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Rename' })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('menuitem', { name: 'Stop' })).toBeFocused();
  await expect(page.getByRole('tooltip', { name: 'It is stopped already' })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('menu-chosen')).toHaveText('Chosen: nothing');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('menu-chosen')).toHaveText('Chosen: delete');
  await expect(page.getByRole('menu')).toHaveCount(0);
  await expect(button('Menu')).toBeFocused();

  await button('Under the pointer').hover();
  await expect(page.getByRole('menu')).toBeVisible();
  const hiddenAfter = await waitedFor(
    () => page.mouse.move(0, 0),
    () => document.querySelector('[role="menu"]') === null,
  );
  expect(hiddenAfter).toBeGreaterThanOrEqual(400);
});

test('toasts stand at the bottom right, at most 20, for 5 s unless they are pointed at or focused', async () => {
  await button('Success').click();
  const success = page.getByRole('status').filter({ hasText: 'The SSH key has been added' });
  await expect(success).toBeVisible();
  const box = await success.boundingBox();
  const view = page.viewportSize();
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeGreaterThan((view?.width ?? 0) - 40);
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeGreaterThan((view?.height ?? 0) - 40);
  await success.getByRole('button', { name: 'Close' }).click();
  await expect(success).toHaveCount(0);

  await page.clock.install();
  // An installed clock goes on by itself: what is counted below must not depend on how fast this machine is.
  await page.clock.pauseAt(Date.now() + 60_000);
  await button('Failure').click();
  const failure = page.getByRole('alert').filter({ hasText: 'Something goes wrong. Try again!' });
  await expect(failure).toBeVisible();
  await failure.getByRole('button', { name: 'Close' }).focus();
  await page.clock.runFor(20_000);
  await expect(failure).toBeVisible();
  await button('Failure').focus();
  await failure.hover();
  await page.clock.runFor(20_000);
  await expect(failure).toBeVisible();
  await page.mouse.move(0, 0);
  await page.clock.runFor(4_900);
  await expect(failure).toBeVisible();
  await page.clock.runFor(1_000);
  await expect(failure).toHaveCount(0);

  await button('25 at once').click();
  await page.clock.runFor(1_000);
  await expect(page.getByText(/^Toast \d+$/)).toHaveCount(20);
});

/** Milliseconds between an act and what it leads to, by the page's own clock. */
async function waitedFor(act: () => Promise<unknown>, happened: () => boolean): Promise<number> {
  await page.evaluate(`window.happenedAt = new Promise((tell) => {
    const look = () => ((${happened.toString()})() ? tell(performance.now()) : requestAnimationFrame(look));
    addEventListener('pointermove', () => { window.movedAt ??= performance.now(); requestAnimationFrame(look); }, { once: true, capture: true });
  }); window.movedAt = undefined;`);
  await act();
  return page.evaluate(`window.happenedAt.then((at) => at - window.movedAt)`);
}
