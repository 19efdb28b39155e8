import { expect, type Locator, type Page } from '@playwright/test';

export const lostNotice = (page: Page, workspace: string): Locator =>
  page.getByRole('status').filter({ hasText: `You are no longer a member of “${workspace}”` });

/** Who lost their workspace lands at the root of the next one, and a notice names the one that they lost. */
export async function expectLost(
  page: Page,
  url: string,
  { lost, next }: { lost: string; next: string | null },
): Promise<void> {
  await expect(lostNotice(page, lost)).toBeVisible();
  // Where the root leads to.
  await expect(page).toHaveURL(`${url}/models`);
  await expect(page.getByTestId('profile-menu')).toContainText(next ?? 'No workspace');
}
