import type { Locator, Page } from '@playwright/test';

const FARTHEST = 150;

/**
 * Presses Tab until the focus is on the target, as who has no mouse does. Fails when Tab does not lead there, or when
 * nothing shows where the focus is.
 */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  const way: string[] = [];
  for (let presses = 0; presses < FARTHEST; presses += 1) {
    const here = await target.evaluate((element) => {
      const active = document.activeElement;
      if (element !== active) return { there: false, shown: true, at: active?.outerHTML.slice(0, 120) ?? '' };
      const drawn = (one: Element): boolean => {
        const style = getComputedStyle(one);
        return (
          (style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none'
        );
      };
      // A field may show it on its frame.
      const frames = [element, element.parentElement, element.parentElement?.parentElement];
      const caret = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
      return {
        there: true,
        shown: caret || frames.some((frame) => frame && drawn(frame)),
        at: element.outerHTML.slice(0, 120),
      };
    });
    if (here.there && here.shown) return;
    if (here.there) throw new Error(`Nothing shows that the focus is on ${here.at}`);
    way.push(here.at);
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${target}; it went over\n${[...new Set(way)].join('\n')}`);
}

/** Tabs to a field and writes in it, over what it holds. */
export async function write(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}

/** Tabs to a button or link and presses Enter. */
export async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}
