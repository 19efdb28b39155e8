import type { Page } from '@playwright/test';

/** Goes on within the page, as a link would: a page load costs more than all the looking. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
}
