import { type Browser, expect, type Page } from '@playwright/test';
import { ROUTES, type Route, type RouteName } from '@stagi/contract/routes.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { chooseTheme, findInaccessible, THEMES } from './accessible.ts';
import { findCoveredText } from './coveredText.ts';
import { findCutOffText } from './cutOffText.ts';
import { routeNameOf, waitForScreen, walkTo } from './navigation.ts';
import { enter } from './people.ts';
import { OPEN, speakPseudo } from './pseudoLanguage.ts';
import { routesOf, type Viewer } from './screens.ts';
import { findUntranslated } from './untranslatedText.ts';
import { OFTEN } from './waitUntil.ts';

const HEIGHT = 800;
const WIDE = 1280;
const PHONE = 360;

/** Looks at screens, and keeps what is wrong with them. */
export interface ScreenWalk {
  /** Goes to each address within the app and looks at what is there. */
  visit(paths: readonly string[]): Promise<void>;
  /** Looks at what is open now, in both themes and on a phone. */
  look(where: string): Promise<void>;
  /** One line for each finding, with where it was met first. */
  findings(): string[];
  /** Fails with all findings, with routes that no visit led to, and with tabs that were not visited. */
  expectNothingFound(viewer: Viewer): void;
}

/** Opens the app in a made-up language, in a browser of its own, as `person` or else as a visitor. */
export async function openInPseudo(browser: Browser, url: string, person: Person | null): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: 'reduce', viewport: { width: WIDE, height: HEIGHT } });
  await speakPseudo(context);
  const page = await context.newPage();
  await page.addInitScript(() => localStorage.setItem('language', 'tr'));
  await (person ? enter(page, url, person, '/profile/account') : page.goto(url));
  await expect(page.getByRole('heading', { level: 1 })).toContainText(OPEN);
  // Its code comes after that of the page, and it is to cover nothing.
  if (person) await expect(page.getByTestId('feedback-button')).toBeVisible();
  return page;
}

export function startWalk(page: Page): ScreenWalk {
  const found = new Map<string, string>();
  const visited = new Set<string>();
  const reached = new Set<RouteName | undefined>();
  const tabs = new Set<string>();
  // The theme that is on comes first: to change it restyles the whole page.
  let theme: (typeof THEMES)[number] | null = null;
  let looks = 0;

  const note = (where: string, findings: readonly string[]) => {
    for (const finding of findings) found.set(finding, found.get(finding) ?? where);
  };
  const findings = () => [...found].map(([finding, where]) => `${where}: ${finding}`);

  async function look(where: string): Promise<void> {
    await readAt(WIDE, where);
    for (const next of theme === 'dark' ? THEMES.toReversed() : THEMES) {
      if (next !== theme) await chooseTheme(page, next);
      theme = next;
      note(`${where}, ${theme}`, await findInaccessible(page));
    }
    await page.setViewportSize({ width: PHONE, height: HEIGHT });
    await readAt(PHONE, where);
    await page.setViewportSize({ width: WIDE, height: HEIGHT });
    looks += 1;
  }

  async function readAt(width: number, where: string): Promise<void> {
    const at = `${where} at ${width} px`;
    note(at, await findCutOffText(page));
    note(at, await findUntranslated(page));
    note(at, await findCoveredText(page));
  }

  return {
    look,
    findings,
    async visit(paths) {
      for (const path of paths) {
        const [from, said] = [new URL(page.url()), await saidBy(page)];
        const to = new URL(path, from);
        await walkTo(page, path);
        const name = routeNameOf(new URL(page.url()).pathname);
        // Another tab, or a form in the place of its list: `walkTo` knows a screen by its route.
        if (name === routeNameOf(from.pathname) && to.href !== from.href)
          await expect
            .poll(async () => (await saidBy(page)) !== said, { ...OFTEN, message: `${path} stands` })
            .toBe(true);
        await waitForScreen(page);
        visited.add(to.pathname);
        reached.add(name);
        for (const tab of await tabsOf(page)) tabs.add(tab);
        await look(path);
      }
    },
    expectNothingFound(viewer) {
      console.log(`screens of ${viewer}s: n = ${visited.size} addresses, ${looks} looks, ${tabs.size} tabs`);
      expect.soft(findings(), 'what is wrong, and where').toEqual([]);
      const missing = routesOf(viewer).filter((name) => !reached.has(name));
      expect.soft(missing, 'routes without a screen in screens.ts').toEqual([]);
      expect
        .soft(
          [...tabs].filter((tab) => !visited.has(tab)),
          'tabs that screens.ts lacks',
        )
        .toEqual([]);
      expect(looks).toBeGreaterThan(0);
    },
  };
}

/** The addresses of the tabs of the page. */
async function tabsOf(page: Page): Promise<string[]> {
  const paths = await page
    .locator('main nav a')
    .evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).pathname));
  return paths.filter((path) => {
    const name = routeNameOf(path);
    return name && (ROUTES[name] as Route).tabs;
  });
}

/** All that a page and the dialogs over it say. */
function saidBy(page: Page): Promise<string> {
  return page.evaluate(() => {
    const fields = [...document.querySelectorAll<HTMLInputElement>('input, textarea')].map(({ value }) => value);
    const parts = [...document.querySelectorAll('#root, [role="dialog"]')].map(({ textContent }) => textContent);
    return [...parts, ...fields].join('\n');
  });
}
