import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { LANGUAGES, type Language, LOCALE } from '@stagi/contract/languages.ts';
import { findCutOffText } from './cutOffText.ts';

const TEXTS = join(import.meta.dirname, '../packages/web/src/i18n');
const catalogues = new Map<Language, Record<string, string>>();

/** What the app says for an English text in a language, as far as no value stands in it. */
export function say(language: Language, english: string): string {
  if (language === 'en') return english;
  const known = catalogues.get(language) ?? JSON.parse(readFileSync(join(TEXTS, `${language}.json`), 'utf8'));
  catalogues.set(language, known);
  const said = known[english];
  if (!said) throw new Error(`${language} has no words for "${english}"`);
  return said;
}

interface Look {
  /** What is to be read, on a wide screen; what it leaves open is measured on a narrow one. */
  look(language: Language): Promise<void>;
  /** Closes what `look` has opened. */
  leave?(): Promise<void>;
}

/**
 * Looks at a page in each language, changed in place as a person would, and then on narrower screens, where nothing may be
 * cut off or wider than the screen. English is the last, so that a story goes on in it.
 */
export async function forEachLanguage(page: Page, { look, leave }: Look): Promise<void> {
  for (const language of [...LANGUAGES.filter((one) => one !== 'en'), 'en' as const]) {
    await speak(page, language);
    await look(language);
    for (const width of NARROWER) {
      await page.setViewportSize({ width, height: WIDE.height });
      expect(await findCutOffText(page), `${language} at ${width} px`).toEqual([]);
    }
    await page.setViewportSize(WIDE);
    await leave?.();
  }
}

const WIDE = { width: 1280, height: 900 };
/** The least that the header has for everything, and a phone. */
const NARROWER = [641, 360];

/** By the menu of the profile, which wide screens have. */
async function speak(page: Page, language: Language): Promise<void> {
  const choice = page.getByTestId('language-switch');
  await page.getByTestId('profile-menu').click();
  await choice.click();
  await page.getByTestId(`language-${language}`).click();
  await expect(page.locator('html')).toHaveAttribute('lang', LOCALE[language]);
  await page.getByTestId('profile-menu').click();
  await expect(choice).toBeHidden();
}
