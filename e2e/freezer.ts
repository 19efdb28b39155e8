import type { Page } from '@playwright/test';

/**
 * Stops all of a page's code and starts it again, with the event that the browser then sends. Chromium freezes hidden
 * tabs only, and Playwright shows all.
 */
export async function freezerOf(page: Page): Promise<{ freeze(): Promise<void>; wake(): Promise<void> }> {
  const debug = await page.context().newCDPSession(page);
  let frozen: Promise<unknown> | null = null;
  return {
    async freeze(): Promise<void> {
      await debug.send('Debugger.enable');
      const paused = new Promise((resolve) => debug.once('Debugger.paused', resolve));
      await debug.send('Debugger.pause');
      // It stops before this, which is done once the page goes on.
      frozen = debug.send('Runtime.evaluate', { expression: '0' });
      await paused;
    },
    async wake(): Promise<void> {
      await debug.send('Debugger.disable');
      await frozen;
      await page.evaluate(() => document.dispatchEvent(new Event('resume')));
    },
  };
}
