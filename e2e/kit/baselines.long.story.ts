import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { chooseTheme, expectAccessible, THEMES } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

/** Renewed by `npm run baselines`. */
const WIDTHS = [360, 768, 1280];
const HEIGHT = 800;
const SECTIONS = [
  ...readFileSync(join(import.meta.dirname, '../../packages/web/src/features/kit/sections.ts'), 'utf8').matchAll(
    /name: '(\w+)'/g,
  ),
].map((match) => match[1] ?? '');

/** What opens over a section, and what is shown of it then. By keyboard, so that it always shows where the focus is. */
const SCENES: Record<string, readonly { name: string; open(page: Page): Promise<Locator> }[]> = {
  dialogs: [
    {
      name: 'dialog-error',
      open: async (page) => {
        await page.getByRole('button', { name: 'Error', exact: true }).press('Enter');
        return page.getByRole('dialog');
      },
    },
    {
      name: 'dialog-side',
      open: async (page) => {
        await page.getByRole('button', { name: 'At the side' }).press('Enter');
        return page.getByRole('dialog');
      },
    },
  ],
  overlays: [
    {
      name: 'menu',
      open: async (page) => {
        await page.getByRole('button', { name: 'Menu', exact: true }).press('Enter');
        return page.getByRole('menu');
      },
    },
  ],
};

const here = execFileSync(process.env.CHROMIUM_PATH ?? '/usr/bin/chromium', ['--version'], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
}).trim();
const { chromium: theirs } = JSON.parse(readFileSync(join(import.meta.dirname, 'baselines/build.json'), 'utf8')) as {
  chromium: string;
};

/** One page for all sections: each is drawn anew when its link is followed. */
let page: Page;
let looks = 0;
let shots = 0;
test.beforeAll(async ({ browser, platform }) => {
  page = await (await browser.newContext()).newPage();
  await page.clock.setFixedTime('2026-01-02T03:04:05Z');
  await page.goto(`${platform.url}/kit`);
});
test.afterAll(async () => {
  await page.context().close();
  console.log(`the gallery: n = ${looks} looks with axe, ${shots} screenshots compared`);
});

for (const section of SECTIONS) {
  test(`axe finds nothing serious in ${section}, in either theme`, async () => {
    await show(section);
    looks += await expectAccessible(page, section);
    for (const scene of SCENES[section] ?? []) {
      await scene.open(page);
      looks += await expectAccessible(page, scene.name);
      await close();
    }
  });
}

for (const section of SECTIONS) {
  test(`${section} looks as it did`, async () => {
    test.skip(here !== theirs, `the baselines are of ${theirs}, and this is ${here}`);
    for (const width of WIDTHS) {
      // Drawn anew at each width: what fits its height to its text has no earlier width to remember.
      const specimens = await show(section, width);
      await wholeSection(width);
      for (const theme of THEMES) {
        await chooseTheme(page, theme);
        await compare(specimens, `${section}-${theme}-${width}`);
      }
      await resize(width, HEIGHT);
      for (const scene of SCENES[section] ?? []) {
        for (const theme of THEMES) {
          await chooseTheme(page, theme);
          await compare(await scene.open(page), `${scene.name}-${theme}-${width}`);
          await close();
        }
      }
    }
  });
}

async function show(section: string, width = 1280): Promise<Locator> {
  await resize(width, HEIGHT);
  // Away and back, so that nothing stays of what an earlier story did to it.
  for (const name of [section === 'type' ? 'content' : 'type', section])
    await page
      .getByRole('navigation', { name: 'Sections of the kit' })
      .getByRole('link', { name, exact: true })
      .click();
  await page.mouse.move(0, 0);
  const specimens = page.getByTestId(`kit-${section}`);
  await expect(specimens.locator('section').first()).toBeVisible();
  await page.evaluate(async () => {
    await document.fonts.ready;
    (document.activeElement as HTMLElement | null)?.blur();
  });
  return specimens;
}

/** As high as the page, so that nothing has to be scrolled and what sticks to an edge stays at its own place. */
async function wholeSection(width: number): Promise<void> {
  await resize(width, await page.evaluate(() => document.documentElement.scrollHeight));
}

/** Until the page has heard of it: what is drawn or opened at once measures text and window by it. */
async function resize(width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await expect
    .poll(() => page.evaluate(() => [innerWidth, document.documentElement.clientHeight]))
    .toEqual([width, height]);
  await page.evaluate(() => new Promise((heard) => requestAnimationFrame(() => requestAnimationFrame(heard))));
}

async function compare(part: Locator, name: string): Promise<void> {
  await expect(part).toHaveScreenshot(`${name}.png`);
  shots += 1;
}

async function close(): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(page.locator('[role="dialog"], [role="menu"]')).toHaveCount(0);
}
