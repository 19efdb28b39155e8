import { expect, type Page, type Response } from '@playwright/test';

/**
 * Opens a prerendered page and waits until React listens to it. Before that the focus and keys have no effect, and a
 * link loads a new document: its heading is not focused, and what was typed is lost.
 */
export async function openPublic(page: Page, url: string): Promise<Response | null> {
  const response = await page.goto(url);
  await expect(page.locator('html[data-ready]')).toBeAttached();
  return response;
}
