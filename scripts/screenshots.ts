import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from '@playwright/test';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { builtDaemonEnv } from '@stagi/server/src/testing/cloudApp.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import sharp from 'sharp';
import { chooseTheme } from '../e2e/accessible.ts';
import { furnishForPictures } from '../e2e/homeWorkspace.ts';
import { LANGUAGES, type Language } from '../packages/contract/src/languages.ts';
import {
  OPEN_GRAPH_SIZE,
  openGraphPath,
  SCREEN_SIZE,
  SCREEN_THEMES,
  SCREENS,
  type ScreenName,
  screenPath,
} from '../packages/web/src/features/home/screens.ts';
import { CHROMIUM } from './chromium.ts';
import { provideTestPrograms } from './packages.ts';
import { ROOT } from './run.ts';
import { buildWeb } from './web.ts';

// Takes the pictures of the home page from today's build, in each theme and language: look at them before you commit.
const PUBLIC = join(ROOT, 'packages/web/public');
/** Pixels of a file for each of the page: its text stays sharp. */
const SCALE = 4 / 3;
/** Where such a screen begins: an element, and the pixels above it. */
const PARTS: Partial<Record<ScreenName, { testId: string; above: number }>> = {
  server: { testId: 'metrics-0gpuUse', above: 130 },
  model: { testId: 'gpu-matrix', above: 130 },
};
const LOCALES: Record<Language, string> = { en: 'en-GB', cn: 'zh-CN', ru: 'ru-RU', tr: 'tr-TR' };

provideTestPrograms();
await buildWeb();
rmSync(join(PUBLIC, 'screens'), { recursive: true, force: true });
mkdirSync(join(PUBLIC, 'screens'), { recursive: true });
const postgres = await startTestPostgres();
const folder = mkdtempSync(join(tmpdir(), 'stagi-screenshots-'));
const app = await startTestApp(builtDaemonEnv(folder));
const ada = await app.signUp('Ada Lovelace');
const { screens, close } = await furnishForPictures(app, ada);
const browser = await chromium.launch(CHROMIUM);
let bytes = 0;
try {
  for (const language of LANGUAGES) {
    await takeScreens(browser, language);
    await takeOpenGraph(browser, language);
  }
} finally {
  await browser.close();
  await close();
  await app.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
const count = LANGUAGES.length * (SCREENS.length * SCREEN_THEMES.length + 1);
console.log(`${count} pictures, ${(bytes / 1e6).toFixed(2)} MB, ${(bytes / count / 1e3).toFixed(0)} kB each`);
process.exit();

async function takeScreens(browser: Browser, language: Language): Promise<void> {
  const context = await browser.newContext({
    locale: LOCALES[language],
    timezoneId: 'UTC',
    viewport: { width: SCREEN_SIZE.width / SCALE, height: SCREEN_SIZE.height / SCALE },
    deviceScaleFactor: SCALE,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await signIn(page, ada);
  for (const name of SCREENS) {
    await page.goto(app.url + screens[name]);
    await standsStill(page);
    await showPart(page, name);
    for (const theme of SCREEN_THEMES) {
      await chooseTheme(page, theme);
      const taken = await page.screenshot({ animations: 'disabled', caret: 'hide' });
      save(screenPath(name, language, theme), await sharp(taken).webp({ quality: 70, effort: 6 }).toBuffer());
    }
  }
  await context.close();
}

/** What a screen is shown for, where that stands below its head. */
async function showPart(page: Page, name: ScreenName): Promise<void> {
  const part = PARTS[name];
  if (!part) return;
  await page.getByTestId(part.testId).scrollIntoViewIfNeeded();
  await page.getByTestId(part.testId).evaluate((element, above) => {
    window.scrollBy({ top: element.getBoundingClientRect().top - above, behavior: 'instant' });
  }, part.above);
  await page.waitForLoadState('networkidle');
}

async function signIn(page: Page, person: Person): Promise<void> {
  await page.goto(`${app.url}/robots.txt`);
  await page.evaluate((tokens) => Object.assign(localStorage, tokens), { ...person.tokens(), authType: 'email' });
}

async function standsStill(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  await page.evaluate(() => document.fonts.ready);
}

/** The sentence of the home page in its font, beside a screen of the product. */
async function takeOpenGraph(browser: Browser, language: Language): Promise<void> {
  const context = await browser.newContext({
    locale: LOCALES[language],
    colorScheme: 'dark',
    viewport: OPEN_GRAPH_SIZE,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await page.goto(app.url);
  await standsStill(page);
  const screen = await sharp(join(PUBLIC, screenPath('server', language, 'dark'))).toBuffer();
  await page.evaluate(
    ([source]) => {
      const sentence = document.querySelector('h1')?.textContent ?? '';
      const logo = document.querySelector('header svg')?.outerHTML ?? '';
      document.body.innerHTML = `
        <main style="position:relative;overflow:hidden;width:1200px;height:630px;background:#0b0b10;color:#e7e7ed">
          <div style="position:absolute;inset:64px auto auto 64px;width:500px">
            <p style="display:flex;align-items:center;gap:14px;margin:0;color:#aeb3fe;font:650 36px/44px 'Inter Variable', 'Noto Sans CJK SC', sans-serif">
              <span style="display:flex;zoom:1.7">${logo}</span><span style="color:#e7e7ed">Stagi</span></p>
            <h1 style="margin:56px 0 0;font:650 42px/54px 'Inter Variable', 'Noto Sans CJK SC', sans-serif;text-wrap:balance;letter-spacing:-0.03em"></h1>
          </div>
          <img alt="" src="${source}" style="position:absolute;left:620px;top:64px;height:566px;border:1px solid #383842;border-radius:12px 0 0 0">
        </main>`;
      const heading = document.querySelector('h1');
      if (heading) heading.textContent = sentence;
    },
    [`data:image/webp;base64,${screen.toString('base64')}`],
  );
  await page.waitForFunction(() => [...document.images].every(({ complete }) => complete));
  const taken = await page.screenshot();
  save(openGraphPath(language), await sharp(taken).png({ palette: true, quality: 80, effort: 8 }).toBuffer());
  await context.close();
}

function save(path: string, picture: Buffer): void {
  writeFileSync(join(PUBLIC, path), picture);
  bytes += statSync(join(PUBLIC, path)).size;
}
