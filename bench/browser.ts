import { type BrowserContext, chromium } from '@playwright/test';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { CHROMIUM } from '../scripts/chromium.ts';

/** The distribution's Chromium, a fresh profile in it, and the port where its tools listen. */
export async function openBrowser(port: number): Promise<BrowserContext> {
  return chromium.launchPersistentContext('', {
    ...CHROMIUM,
    locale: 'en-GB',
    viewport: { width: 1280, height: 800 },
    args: [...CHROMIUM.args, `--remote-debugging-port=${port}`],
  });
}

/** Signs this browser in to the platform as this person. */
export async function signInAs(person: Person, browser: BrowserContext, url: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(`${url}/robots.txt`);
  await page.evaluate(
    (tokens) => {
      for (const [name, value] of Object.entries(tokens)) localStorage.setItem(name, value);
    },
    person.tokens() as unknown as Record<string, string>,
  );
  await page.close();
}
