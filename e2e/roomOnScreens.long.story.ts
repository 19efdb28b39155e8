import { expect, type Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { findCoveredText } from './coveredText.ts';
import { findCutOffText } from './cutOffText.ts';
import { waitForScreen, walkTo } from './navigation.ts';
import { openAs } from './people.ts';
import { screensOf } from './screens.ts';
import { seededTest as test } from './seededPlatform.ts';

/** The longest name there may be, without a space at which a line could break. */
const long = (start: string): string => start.padEnd(100, 'abcdefghijklmnopqrstuvwxyz');
const NAMES = {
  person: long('Person'),
  rented: long('Rented'),
  own: long('Own'),
  container: long('Container'),
  key: long('Key'),
  storage: long('Storage'),
  project: long('Project'),
  task: long('Task'),
};
const PHONE = 360;
const WIDTHS = [PHONE, 768, 1280];
const HEIGHT = 800;

test.use({ names: NAMES });

test('every screen of members has room for names of a hundred characters', async ({ browser, lab }) => {
  test.setTimeout(300_000);
  const { platform, person, ids } = lab;
  await person.client(api.clients.create, { name: long('Workspace') });
  const page = await openAs(browser, platform.url, person, '/profile/account');
  const findings = new Map<string, string>();

  for (const path of screensOf('member', ids)) {
    await walkTo(page, path);
    await expect(page.getByTestId('feedback-button')).toBeVisible();
    await look(path);
  }
  for (const [name, path, open] of [
    ['the profile', '/profile/account', (page: Page) => page.getByTestId('profile-menu').click()],
    ['the palette', '/profile/account', search('Rented')],
    ['terminating', `/cloud/instances/${ids.instance}`, (page: Page) => page.getByTestId('action-terminate').click()],
  ] as const) {
    await walkTo(page, path);
    await open(page);
    await waitForScreen(page);
    await look(name, name === 'the profile' ? [1280] : WIDTHS);
    await page.keyboard.press('Escape');
  }
  await page.setViewportSize({ width: PHONE, height: HEIGHT });
  await page.getByTestId('open-panel').click();
  await expect(page.getByRole('dialog', { name: 'Menu' })).toBeVisible();
  await look('the panel', [PHONE]);
  await page.keyboard.press('Escape');
  expect([...findings].map(([finding, where]) => `${where}: ${finding}`)).toEqual([]);

  await page.setViewportSize({ width: 1280, height: HEIGHT });
  await walkTo(page, '/cloud/self-instances');
  await page.getByText(NAMES.own).hover();
  await expect(page.getByRole('tooltip')).toHaveText(NAMES.own);
  await page.context().close();

  async function look(where: string, widths: readonly number[] = WIDTHS): Promise<void> {
    for (const width of widths) {
      await page.setViewportSize({ width, height: HEIGHT });
      for (const line of await findCutOffText(page)) findings.set(line, `${where} at ${width} px`);
      if (width === PHONE) for (const line of await findCoveredText(page)) findings.set(line, where);
    }
    await page.setViewportSize({ width: 1280, height: HEIGHT });
  }
});

function search(text: string): (page: Page) => Promise<void> {
  return async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByTestId('palette-input').fill(text);
    await expect(page.getByTestId('palette-option').filter({ hasText: text }).first()).toBeVisible();
  };
}
