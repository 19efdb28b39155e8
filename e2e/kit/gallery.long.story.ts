import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

const SECTIONS = [
  ...readFileSync(join(import.meta.dirname, '../../packages/web/src/features/kit/sections.ts'), 'utf8').matchAll(
    /name: '(\w+)'/g,
  ),
].map((match) => match[1] ?? '');

/** Dialogs and menus that open over a section, each with the button that opens it. */
const SCENES: Record<string, readonly { name: string; button: string }[]> = {
  dialogs: [
    { name: 'dialog-error', button: 'Error' },
    { name: 'dialog-side', button: 'At the side' },
  ],
  overlays: [{ name: 'menu', button: 'Menu' }],
};
const OPEN = '[role="dialog"], [role="menu"]';

/** One page for all sections: each is drawn anew when its link is followed. */
let page: Page;
let looks = 0;
test.beforeAll(async ({ browser, platform }) => {
  page = await (await browser.newContext()).newPage();
  await page.clock.setFixedTime('2026-01-02T03:04:05Z');
  await page.goto(`${platform.url}/kit`);
});
test.afterAll(async () => {
  await page.context().close();
  console.log(`the gallery: n = ${looks} looks with axe`);
});

for (const section of SECTIONS) {
  test(`axe finds nothing serious in ${section}, in either theme`, async () => {
    await show(section);
    looks += await expectAccessible(page, section);
    for (const scene of SCENES[section] ?? []) {
      await page.getByRole('button', { name: scene.button, exact: true }).press('Enter');
      await expect(page.locator(OPEN)).toBeVisible();
      looks += await expectAccessible(page, scene.name);
      await close();
    }
  });
}

async function show(section: string): Promise<void> {
  // Away and back, so that nothing stays of what an earlier story did to it.
  for (const name of [section === 'type' ? 'content' : 'type', section])
    await page
      .getByRole('navigation', { name: 'Sections of the kit' })
      .getByRole('link', { name, exact: true })
      .click();
  await page.mouse.move(0, 0);
  const specimens = page.getByTestId(`kit-${section}`);
  await expect(specimens.locator('section').first()).toBeVisible();
  await page.evaluate(async () => {
    await document.fonts.ready;
    (document.activeElement as HTMLElement | null)?.blur();
  });
}

async function close(): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(page.locator(OPEN)).toHaveCount(0);
}
