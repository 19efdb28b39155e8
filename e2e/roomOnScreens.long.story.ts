import { expect, type Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { findCutOffText } from './cutOffText.ts';
import { waitForScreen, walkTo } from './navigation.ts';
import { openAs } from './people.ts';
import { ownScreens, seededTest as test } from './seededPlatform.ts';

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
const WIDTHS = [360, 768, 1280];
const HEIGHT = 800;

test.use({ names: NAMES });

test('every screen has room for names of a hundred characters, and a place of its own for the feedback button', async ({
  browser,
  lab,
}) => {
  test.setTimeout(300_000);
  const { platform, person, ids } = lab;
  await person.client(api.clients.create, { name: long('Workspace') });
  const page = await openAs(browser, platform.url, person, '/profile/account');
  const findings = new Map<string, string>();

  for (const path of ownScreens(ids)) {
    await walkTo(page, path);
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
  await page.setViewportSize({ width: 360, height: HEIGHT });
  await page.getByTestId('open-panel').click();
  await expect(page.getByRole('dialog', { name: 'Menu' })).toBeVisible();
  await look('the panel', [360]);
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
      if (where.startsWith('/'))
        for (const line of await coveredByFeedback(page)) findings.set(line, `${where} at ${width} px`);
    }
    await page.setViewportSize({ width: 1280, height: HEIGHT });
  }
});

/**
 * What lies beneath the feedback button at any scroll position. On a phone its strip is as a lower edge of the window:
 * opaque, from side to side, and at the end of the page nothing is left beneath it.
 */
async function coveredByFeedback(page: Page): Promise<string[]> {
  await expect(page.getByTestId('feedback-button')).toBeVisible();
  return page.evaluate(async () => {
    const corner = document.querySelector('[data-feedback]');
    const button = corner?.querySelector('button');
    if (!corner || !button) return ['there is no feedback button'];
    const root = document.documentElement;
    const isStrip = getComputedStyle(corner).position === 'sticky';
    const { left, width } = corner.getBoundingClientRect();
    const found: string[] = [];
    if (isStrip && (left > 0 || width < root.clientWidth)) found.push('the strip leaves a gap at the side');
    if (isStrip && !/^rgb\(/.test(getComputedStyle(corner).backgroundColor)) found.push('the strip is not opaque');
    const end = () => root.scrollHeight - root.clientHeight;
    for (const part of isStrip ? [1] : [0, 1 / 3, 2 / 3, 1]) {
      // Content that comes late moves the end of the page.
      for (let top = -1; top !== end() * part; ) {
        top = end() * part;
        window.scrollTo({ top, behavior: 'instant' });
        await new Promise(requestAnimationFrame);
      }
      const area = (isStrip ? corner : button).getBoundingClientRect();
      for (let x = area.left + 1; x < area.right; x += 13)
        for (let y = area.top + 1; y < area.bottom; y += 13)
          for (const element of beneath(document.elementsFromPoint(x, y)))
            if (isContent(element))
              found.push(`the feedback button covers ${element.tagName} "${element.textContent?.trim().slice(0, 40)}"`);
    }
    window.scrollTo({ top: 0, behavior: 'instant' });
    return [...new Set(found)];

    /** A dialog lies above the button. */
    function beneath(topDown: Element[]): Element[] {
      const at = topDown.findIndex((element) => corner?.contains(element));
      return at < 0 ? [] : topDown.slice(at).filter((element) => !corner?.contains(element));
    }
    function isContent(element: Element): boolean {
      const hasWords = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim());
      const { borderTopWidth, backgroundImage } = getComputedStyle(element);
      return (
        hasWords ||
        element.matches('a, button, input, textarea, select, img, svg, canvas, table, [role], [tabindex]:not(main)') ||
        borderTopWidth !== '0px' ||
        backgroundImage !== 'none'
      );
    }
  });
}

function search(text: string): (page: Page) => Promise<void> {
  return async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByTestId('palette-input').fill(text);
    await expect(page.getByTestId('palette-option').filter({ hasText: text }).first()).toBeVisible();
  };
}
