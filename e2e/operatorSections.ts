import type { Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect } from './fixtures.ts';

/** Another section of the administration, by its menu. */
export async function section(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
}

export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await sideways(page)).toBeLessThanOrEqual(0);
}

const WIDTHS = [1280, 360];

/** Looks at a page at the width of a desk and of a phone, and leaves it at the first. */
export async function walkWidths(page: Page, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    await expectNoSidewaysScroll(page);
    await expectAccessible(page, name);
  }
  await page.setViewportSize({ width: WIDTHS[0]!, height: 800 });
}
