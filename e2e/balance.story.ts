import type { Language } from '@stagi/contract/languages.ts';
import { meterWorkspace } from '@stagi/server/src/billing/meterWorkspace.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aRentedInstance, makeOperator } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { followLink } from './navigation.ts';
import { openAs } from './people.ts';
import { forEachLanguage, say } from './translations.ts';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());

test('an operator makes a promo code, somebody adds it to their balance and sees where their money went', async ({
  browser,
}) => {
  const olga = await app.signUp('Olga Operator');
  const ada = await app.signUp('Ada Lovelace');
  await makeOperator(app.ctx, olga);
  await anHourOfUse(ada);
  const desk = await openAs(browser, app.url, olga, '/admin/promo-codes');
  const codes = desk.getByTestId('promo-row');

  await test.step('the operator makes a code', async () => {
    await expect(desk.getByText('No promo codes yet')).toBeVisible();
    await desk.getByTestId('promo-create').click();
    const dialog = desk.getByTestId('promo-dialog');
    await dialog.getByRole('textbox', { name: /^Code/ }).fill('spring-26');
    await dialog.getByTestId('promo-dialog-submit').click();
    await expect(dialog.getByText('Amount is required')).toBeVisible();
    await dialog.getByLabel('Amount in STAGI').fill('7.5');
    await dialog.getByLabel('Uses').fill('2');
    await expectAccessible(desk, 'a new promo code');
    await dialog.getByTestId('promo-dialog-submit').click();
    await expect(desk.getByText('SPRING-26 has been created')).toBeVisible();
    await expect(codes).toHaveCount(1);
    await expect(codes).toContainText('0 of 2');
    await expectAccessible(desk, 'promo codes');
  });

  const page = await openAs(browser, app.url, ada, '/profile/balance');
  const rows = page.getByTestId('transaction-row');
  const balance = page.getByTestId('balance');
  await test.step('a code that nobody made adds nothing', async () => {
    await expect(rows).toHaveCount(2);
    await expect(balance).toHaveText('49.93 STAGI');
    await page.getByTestId('promo-code').fill('winter');
    await page.getByTestId('promo-submit').click();
    await expect(page.getByText('This promo code does not exist')).toBeVisible();
    await expect(balance).toHaveText('49.93 STAGI');
  });

  await test.step('the code changes the balance in the header and is among the transactions', async () => {
    await page.getByTestId('promo-code').fill('Spring-26');
    await page.getByTestId('promo-submit').click();
    await expect(page.getByText('7.50 STAGI were added to your balance')).toBeVisible();
    await expect(balance).toHaveText('57.43 STAGI');
    await expect(page.getByTestId('available')).toContainText('57.43');
    await expect(rows).toHaveCount(3);
    await expect(rows.nth(0)).toContainText('Promo code');
    await expect(rows.nth(0)).toContainText('+7.50');
    await expectAccessible(page, 'balance');
  });

  await test.step('a second time it adds nothing', async () => {
    await page.getByTestId('promo-code').fill('SPRING-26');
    await page.getByTestId('promo-submit').click();
    await expect(page.getByText('You have already used this promo code')).toBeVisible();
    await expect(balance).toHaveText('57.43 STAGI');
  });

  await test.step('all of it in four languages, with room on a phone', async () => {
    const panel = page.getByTestId('transaction-panel');
    await forEachLanguage(page, {
      async look(language) {
        const { amount, unknown, kinds, charged } = SAID[language];
        await expect(balance).toHaveText(amount);
        await expect(page.getByTestId('available')).toContainText(amount);
        for (const [row, words] of kinds.entries())
          for (const word of words) await expect(rows.nth(row)).toContainText(word);
        for (const words of ['Transactions', 'Addresses', 'Network', 'Current rate per hour', 'nothing is spent'])
          await expect(page.getByText(say(language, words), { exact: true }).first()).toBeVisible();
        await page.getByTestId('promo-code').fill('winter');
        await page.getByTestId('promo-submit').click();
        await expect(page.getByText(unknown)).toBeVisible();
        await rows.nth(2).getByRole('link').first().click();
        await expect(panel.getByRole('heading', { name: charged })).toBeVisible();
        await expect(panel.getByTestId('charged-segments')).toContainText(say(language, 'Seconds'));
      },
      async leave() {
        await page.keyboard.press('Escape');
        await expect(panel).toBeHidden();
      },
    });
    await page.getByTestId('promo-code').fill('');
  });

  await test.step('filters show what is asked for, and are in the address', async () => {
    await page.getByRole('button', { name: 'Type', exact: true }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Spending' }).click();
    await expect(rows).toHaveCount(1);
    await expect(page).toHaveURL(/type=Spending/);
    await page.getByRole('menuitemcheckbox', { name: 'Deposit' }).click();
    await expect(rows).toHaveCount(3);
    await page.getByRole('menuitemcheckbox', { name: 'Spending' }).click();
    await expect(rows).toHaveCount(2);
    await page.keyboard.press('Escape');
  });

  await test.step('of use it shows what was charged, on a phone too', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${app.url}/profile/balance?type=Spending`);
    await expect(rows).toHaveCount(1);
    await expect(rows).toContainText('−0.07');
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await rows.getByRole('link').click();
    const panel = page.getByTestId('transaction-panel');
    await expect(panel.getByTestId('charged-segments').getByRole('row')).toHaveCount(2);
    await expect(panel.getByTestId('charged-segments')).toContainText('3,600');
    await expect(panel.getByTestId('charged-segments')).toContainText('0.07');
    await expectAccessible(page, 'a transaction');
    expect(await sideways(page)).toBeLessThanOrEqual(0);
  });

  await test.step('the operator ends the code and finds the ledger sound', async () => {
    await desk.reload();
    await expect(codes).toContainText('1 of 2');
    await desk.getByRole('button', { name: 'Actions for SPRING-26' }).click();
    await desk.getByTestId('action-revoke').click();
    await desk.getByTestId('confirm-submit').click();
    await expect(desk.getByText('SPRING-26 has been revoked')).toBeVisible();
    await expect(codes.locator('[data-status="revoked"]')).toHaveCount(1);
    await desk.getByRole('link', { name: 'Ledger' }).first().click();
    await desk.getByTestId('ledger-verify').click();
    await expect(desk.getByTestId('ledger-row').locator('[data-status="sound"]')).toHaveCount(1, { timeout: 60_000 });
    await expectAccessible(desk, 'ledger');
    await desk.setViewportSize({ width: 360, height: 740 });
    await expect(desk.getByTestId('ledger-row')).toHaveCount(1);
    expect(await sideways(desk)).toBeLessThanOrEqual(0);
  });

  await test.step('a rental that came to nothing is given back, in the list and in the bill', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await aRentalThatCameToNothing(ada);
    await page.goto(`${app.url}/profile/balance`);
    await expect(rows).toHaveCount(5);
    await expect(rows.filter({ hasText: 'Refund · ' })).toContainText('+0.07');
    await expect(balance).toHaveText('57.43 STAGI');
    await followLink(page, '/profile/usage');
    const uses = page.getByTestId('usage-row');
    await expect(uses).toHaveCount(2);
    await expect(uses.filter({ hasText: '0.07 refunded' })).toContainText('0.00');
    await expect(page.getByTestId('usage-charged')).toHaveText('0.07 STAGI');
  });

  await test.step('the header never shows more than there is, and the exact amount when asked', async () => {
    await anHourOfUse(ada, 70_024);
    await page.goto(`${app.url}/profile/balance`);
    await expect(balance).toHaveText('57.35 STAGI');
    await balance.hover();
    await expect(page.getByRole('tooltip')).toHaveText('57.359976 STAGI · $57.359976');
  });
  await page.context().close();
  await desk.context().close();
});

/** The header; a wrong code; the rows, newest first; the heading above what was charged. */
const SAID: Record<Language, { amount: string; unknown: string; kinds: string[][]; charged: string }> = {
  en: {
    amount: '57.43 STAGI',
    unknown: 'This promo code does not exist',
    kinds: [
      ['Promo code', 'Deposit', '+7.50'],
      ['Starter credit', 'Deposit'],
      ['Spending', '−0.07'],
    ],
    charged: 'Charge details',
  },
  ru: {
    amount: '57,43 STAGI',
    unknown: 'Такого промокода нет',
    kinds: [
      ['Промокод', 'Пополнение', '+7,50'],
      ['Стартовый бонус', 'Пополнение'],
      ['Расход', '−0,07'],
    ],
    charged: 'Детали списания',
  },
  tr: {
    amount: '57,43 STAGI',
    unknown: 'Böyle bir promosyon kodu yok',
    kinds: [
      ['Promosyon kodu', 'Para yatırma', '+7,50'],
      ['Başlangıç kredisi', 'Para yatırma'],
      ['Harcama', '−0,07'],
    ],
    charged: 'Ücret ayrıntıları',
  },
  cn: {
    amount: '57.43 STAGI',
    unknown: '此优惠码不存在',
    kinds: [
      ['优惠码', '充值', '+7.50'],
      ['初始赠金', '充值'],
      ['消费', '−0.07'],
    ],
    charged: '扣费明细',
  },
};

/** A server that was charged for an hour, never became ready, and is charged for nothing. */
async function aRentalThatCameToNothing(owner: Person): Promise<void> {
  const instance = await anHourOfUse(owner);
  await sql`update segment set voided = true, settled = false where kind = 'instance' and resource_id = ${instance}`.execute(
    app.ctx.db,
  );
  await meterWorkspace(app.ctx.db, owner.workspaceId);
}

/** One hour of one server, charged. */
async function anHourOfUse(owner: Person, microPerHour = 70_000): Promise<number> {
  const { db } = app.ctx;
  const instance = await aRentedInstance(app.ctx, owner, 'terminated');
  await sql`update instance set closed_at = now() where id = ${instance}`.execute(db);
  await sql`insert into segment (client_id, kind, resource_id, rate, price, started_at, ended_at, metered_until, confirmed)
    select ${owner.workspaceId}, 'instance', ${instance}, 'running', ${microPerHour}, t - interval '2 hours', t - interval '1 hour', t - interval '2 hours', true
    from (select clock_timestamp() as t) as now`.execute(db);
  await sql`insert into workspace_meter (client_id, metered_at) values (${owner.workspaceId}, now()) on conflict do nothing`.execute(
    db,
  );
  await meterWorkspace(db, owner.workspaceId);
  return instance;
}
