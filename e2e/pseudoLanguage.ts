import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from '@playwright/test';

const WEB = join(import.meta.dirname, '../packages/web/src/i18n');

/** Around every text of the pseudo-language: what stands outside of them was not translated. */
export const OPEN = '⟦';
export const CLOSE = '⟧';

const ACCENTED: Record<string, string> = Object.fromEntries(
  [
    ...'AÅBƁCÇDÐEÉFƑGĜHĤIÎJĴKĶLĻMṀNÑOÖPÞQǪRŔSŠTŢUÛVṼWŴXẊYÝZŽaåbƀcçdðeéfƒgĝhĥiîjĵkķlļmɱnñoöpþqǫrŕsštţuûvṽwŵxẋyýzž'.matchAll(
      /(.)(.)/gu,
    ),
  ].map(([, plain, accented]) => [plain, accented]),
);

/**
 * Serves a language that nobody speaks in the place of Turkish: every text accented, marked and a third longer. It is
 * made on the way to the browser, so that nothing of it is in the app.
 */
export async function speakPseudo(context: BrowserContext): Promise<number> {
  const keys = Object.keys(JSON.parse(readFileSync(join(WEB, 'tr.json'), 'utf8')));
  const texts = Object.fromEntries(keys.map((key) => [key, pseudo(key.replace(PLURAL, ''))]));
  await context.route(/\/assets\/tr-[\w-]+\.js$/, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: `export default ${JSON.stringify(texts)}` }),
  );
  return keys.length;
}

const PLURAL = /(?<=\{\{count\}\}.*)_(?:one|other)$/;

/** Places keep their names: `⟦Åðð {{count}} ķéýš ···⟧`. */
export function pseudo(english: string): string {
  const spoken = english.replace(/\{\{\w+\}\}|\p{ASCII}/gu, (sign) => ACCENTED[sign] ?? sign);
  return `${OPEN}${spoken}${'·'.repeat(Math.ceil(english.length / 3))}${CLOSE}`;
}
