import { expect, type Page } from '@playwright/test';
import axe from 'axe-core';
import { OFTEN } from './waitUntil.ts';

export const THEMES = ['light', 'dark'] as const;

/**
 * Looks at the page as it stands, in both themes, switched in place. Fails with the rule and the first element of each
 * finding that axe calls serious or critical. Answers how many looks were taken.
 */
export async function expectAccessible(page: Page, name: string): Promise<number> {
  for (const theme of THEMES) {
    await chooseTheme(page, theme);
    await expectNothingSerious(page, `${name}, ${theme}`);
  }
  return THEMES.length;
}

/** The same of what is drawn now, and is no page of the app. */
export async function expectNothingSerious(page: Page, name: string): Promise<void> {
  expect(await findInaccessible(page), name).toEqual([]);
}

/** Everything that axe calls serious or critical in the page as drawn: the rule and its first element, one line for each. */
export async function findInaccessible(page: Page): Promise<string[]> {
  // Once for each document: to hand axe over and compile it takes several times as long as a look.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  // In the page itself: no page of ours shows frames of others.
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') };
    return (await axe.run(document, { resultTypes: ['violations'], preload: false })).violations;
  });
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes: [first] }) => {
    const { target = [], html = '', failureSummary } = first ?? {};
    return `${id}: ${target.join(' ')}: ${html.slice(0, 120)}: ${failureSummary}`;
  });
}

/** As the person's system would choose it; colours that fade over are waited for. */
export async function chooseTheme(page: Page, theme: (typeof THEMES)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await expect.poll(() => page.locator('html').getAttribute('data-mantine-color-scheme'), OFTEN).toBe(theme);
  await page.evaluate(async () => {
    const ending = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY);
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });
}
