import type { Page } from '@playwright/test';

/** What is cut off at the screen's or an element's edge without a way to read it, one line for each. */
export async function findCutOffText(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    // What asks for the width of the screen has drawn itself anew.
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    const measure = document.createElement('canvas').getContext('2d');
    const lines: string[] = [];
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (wide > 0) lines.push(`the page is ${wide} px wider than the screen`);
    for (const element of document.body.querySelectorAll<HTMLElement>('*')) {
      const { overflowX, textOverflow } = getComputedStyle(element);
      const isVisible = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      if (!isVisible || element.clientWidth <= 1) continue;
      const cuts = ['hidden', 'clip'].includes(overflowX);
      const isNarrow = cuts && element.scrollWidth > element.clientWidth + 1;
      const isLow = (cuts || element.tagName === 'BUTTON') && element.scrollHeight > element.clientHeight + 3;
      const words = textOverflow === 'ellipsis' ? element.textContent?.trim() : hasOwnWords(element);
      if ((isNarrow || isLow) && words && !element.closest('[title], [data-cut-text], textarea'))
        lines.push(`cut off (${isNarrow ? textOverflow : 'below'}): ${briefly(element)}`);
      if (element instanceof HTMLInputElement && element.value === '' && isPlaceholderCut(element))
        lines.push(`cut off: placeholder "${element.placeholder}"`);
      if (hasOwnWords(element) && isBeyond(element)) lines.push(`beyond the screen: ${briefly(element)}`);
    }
    return [...new Set(lines)];

    function hasOwnWords(element: Element): boolean {
      return [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
    }

    function isPlaceholderCut(input: HTMLInputElement): boolean {
      if (!measure || input.title !== '') return false;
      const { fontWeight, fontSize, fontFamily, paddingLeft, paddingRight } = getComputedStyle(input);
      // Their shorthand is empty where a feature of the font is set, which would leave 10 px.
      measure.font = `${fontWeight} ${fontSize} ${fontFamily}`;
      const room = input.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      return measure.measureText(input.placeholder).width > room + 1;
    }

    /** Past the right edge, with nothing around it that scrolls or cuts. */
    function isBeyond(element: Element): boolean {
      if (element.getBoundingClientRect().right <= document.documentElement.clientWidth + 1) return false;
      for (let around = element.parentElement; around; around = around.parentElement)
        if (
          around !== document.body &&
          around !== document.documentElement &&
          getComputedStyle(around).overflowX !== 'visible'
        )
          return false;
      return true;
    }

    function briefly(element: Element): string {
      const name = [element.tagName.toLowerCase(), ...element.classList].join('.').slice(0, 60);
      return `${name} "${element.textContent?.trim().slice(0, 60)}"`;
    }
  });
}

/** By how many pixels the page is wider than the screen. */
export const sideways = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
