import { LANGUAGES, LOCALE } from '@stagi/contract/languages.ts';
import { everyMail } from '@stagi/server/src/testing/everyMail.ts';
import { expectNothingSerious, THEMES } from './accessible.ts';
import { expect, test } from './fixtures.ts';

test.use({ viewport: { width: 360, height: 740 } });

test('every mail can be read on a phone, in four languages', async ({ page }) => {
  let seen = 0;
  for (const language of LANGUAGES) {
    for (const [name, { subject, html }] of Object.entries(everyMail(language))) {
      await page.setContent(html);
      const mail = `${name} in ${language}`;
      await expect(page.locator('html'), mail).toHaveAttribute('lang', LOCALE[language]);
      await expect(page, mail).toHaveTitle(subject);
      const drawn = await page.evaluate(() => ({
        beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        words: document.body.textContent.trim().length,
        links: [...document.links].map(({ protocol }) => protocol),
        fetched: document.querySelectorAll('img, script, link, iframe').length,
      }));
      expect(drawn.beyond, mail).toBeLessThanOrEqual(0);
      expect(drawn.words, mail).toBeGreaterThan(60);
      expect(
        drawn.links.filter((protocol) => protocol !== 'https:'),
        mail,
      ).toEqual([]);
      // Nothing in a mail tells its sender that it was opened.
      expect(drawn.fetched, mail).toBe(0);
      seen += 1;
    }
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      await expectNothingSerious(page, `a mail in ${language}, ${colorScheme}`);
    }
  }
  console.log(`mails drawn at 360 px: n = ${seen}`);
  expect(seen).toBeGreaterThan(0);
});
