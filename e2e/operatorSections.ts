import type { Page } from '@playwright/test';
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
