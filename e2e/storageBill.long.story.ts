import type { Language } from '@stagi/contract/languages.ts';
import { changeStorage, credit } from '@stagi/server/src/billing/meteredWorkspace.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aStorage } from '@stagi/server/src/testing/factories.ts';
import { sql } from 'kysely';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { followLink } from './navigation.ts';
import { openAs } from './people.ts';
import { forEachLanguage, say } from './translations.ts';

const SLOW = { timeout: 60_000 };
/** Micro-STAGI a month of 10 GB, and a price at which a balance lasts no second. */
const PRICE = 200_000n;
const DEAR = 730n * 10n ** 12n;

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ METERING_SECONDS: '1' })));
});
test.afterAll(() => stop?.());

test('somebody who has only a storage sees what it costs, is told when it is read-only, and that a deposit ends this', async ({
  browser,
}) => {
  test.setTimeout(180_000);
  const { db } = app.ctx;
  const ada = await app.signUp('Ada Lovelace');
  const storage = await aStorage(app.ctx, ada);
  await sql`update storage set title = 'Winter data', slug = 'winter-data' where id = ${storage}`.execute(db);
  await changeStorage(db, storage, {});
  await sql`update segment set started_at = started_at - interval '100 hours', metered_until = metered_until - interval '100 hours'
    where kind = 'storage' and resource_id = ${storage}`.execute(db);
  const page = await openAs(browser, app.url, ada, '/profile/usage');
  const uses = page.getByTestId('usage-row');

  await test.step('usage names it, with its size’s price of an hour and of a month', async () => {
    await expect(uses).toHaveCount(1);
    await expect(uses).toContainText('winter-data');
    await expect(uses).toContainText('Storage size');
    await expect(uses).toContainText('0.000274');
    await expect(uses).toContainText('0.20 for 730 h');
    await expect(page.getByTestId('usage-charged')).toHaveText(/^0\.027\d+ STAGI$/, SLOW);
    await page.getByPlaceholder('Search by name').fill('winter');
    await expect(uses).toHaveCount(1);
    await expectAccessible(page, 'usage of a storage');
  });

  await test.step('a transaction says which storage, with the exact price, on a phone too', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${app.url}/profile/balance?type=Spending`);
    const rows = page.getByTestId('transaction-row');
    await expect(rows.first()).toContainText('Winter data', SLOW);
    await rows.first().getByRole('link').first().click();
    const panel = page.getByTestId('transaction-panel');
    await expect(panel.getByText('Storage', { exact: true })).toBeVisible();
    await expect(panel.getByTestId('charged-segments')).toContainText('0.20 for 730 h');
    await expectAccessible(page, 'a transaction of a storage');
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await test.step('at zero the notice says in four languages that it is read-only, and until when', async () => {
    await changeStorage(db, storage, { pricePerMonth: DEAR });
    await expect(page.getByText('You have no STAGI left. All your instances and tasks are paused.')).toBeVisible(SLOW);
    await changeStorage(db, storage, { pricePerMonth: PRICE });
    await followLink(page, '/profile/usage');
    await forEachLanguage(page, {
      async look(language) {
        await expect(page.getByRole('status').filter({ hasText: KEPT[language] })).toBeVisible(SLOW);
        for (const words of ['Storage size', 'Uncollected at zero balance'])
          await expect(page.getByText(say(language, words), { exact: true }).first()).toBeVisible();
      },
    });
    await page.getByTestId('zero-see').click();
    const dialog = page.getByTestId('zero-dialog');
    await expect(dialog.getByRole('region', { name: 'Read-only storages' })).toContainText('Winter data');
    await expect(dialog).toContainText('stopped servers and storages are kept until');
    await expectAccessible(page, 'what a zero balance keeps');
    await dialog.getByTestId('zero-add').getByRole('link').click();
    await expect(page.getByTestId('promo-code')).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('a credit ends the zero balance', async () => {
    await credit(db, ada.workspaceId, 'card', 1_000_000n);
    await expect(page.getByText('You have no STAGI left.', { exact: false })).toBeHidden(SLOW);
  });
  await page.context().close();
});

const KEPT: Record<Language, RegExp> = {
  en: /One storage is read-only and kept until \d\d\.\d\d\.\d{4} \d\d:\d\d\./,
  ru: /1 хранилище доступно только для чтения и сохраняется до \d\d\.\d\d\.\d{4} \d\d:\d\d\./,
  tr: /1 depolama salt okunur ve \d\d\.\d\d\.\d{4} \d\d:\d\d tarihine kadar saklanır\./,
  cn: /1 个存储为只读，将保留至 \d\d\.\d\d\.\d{4} \d\d:\d\d。/,
};
