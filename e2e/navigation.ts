import { expect, type Page } from '@playwright/test';
import { ROUTES, type RouteName } from '@stagi/contract/routes.ts';
import { OFTEN } from './waitUntil.ts';

/** Goes on within the page, as a link would: a page load costs more than all the looking. */
export async function followLink(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
}

/** The same, until the screen stands: headed, and no longer waiting for anything. */
export async function walkTo(page: Page, path: string): Promise<void> {
  const drawn = () => page.evaluate(() => ({ title: document.title, path: location.pathname }));
  const before = await drawn();
  await followLink(page, path);
  // Until the next page is there the one before stays, headed and at rest, and so does the title. Some pages lead on.
  await expect
    .poll(async () => {
      const now = await drawn();
      return now.title !== before.title || routeNameOf(now.path) === routeNameOf(before.path);
    }, OFTEN)
    .toBe(true);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  // The page may stand already, and the dialog that the address opens comes after it.
  if (DIALOGS.includes(path)) await expect(page.getByRole('dialog')).toHaveAccessibleName(/./);
  await waitForScreen(page);
}

const DIALOGS = ['/cloud/storages?new=1', '/projects?new=1'];

export async function waitForScreen(page: Page): Promise<void> {
  await expect.poll(() => page.locator('[aria-busy="true"]').count(), OFTEN).toBe(0);
}

/** The route that says most of a path: what stands below a page's own path is a tab or a list of it. */
export function routeNameOf(pathname: string): RouteName | undefined {
  const parts = pathname.split('/');
  const holds = (path: string) =>
    path === '/'
      ? pathname === '/'
      : path.split('/').every((part, at) => part === parts[at] || (part.startsWith(':') && Boolean(parts[at])));
  const length = (name: RouteName) => ROUTES[name].path.split('/').length;
  const found = (Object.keys(ROUTES) as RouteName[]).filter((name) => holds(ROUTES[name].path));
  return found.toSorted((a, b) => length(b) - length(a))[0];
}
