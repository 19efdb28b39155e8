import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import type { Instance } from '@stagi/contract/instances.ts';
import type { Language } from '@stagi/contract/languages.ts';
import { asMicro, fromDecimal } from '@stagi/contract/money.ts';
import { accountOf } from '@stagi/server/src/billing/accounts.ts';
import { post } from '@stagi/server/src/billing/ledger.ts';
import { syncSegments } from '@stagi/server/src/billing/segments.ts';
import { inTransaction } from '@stagi/server/src/db/pool.ts';
import { type CloudApp, rentServer, startCloudApp, viewInstance } from '@stagi/server/src/testing/cloudApp.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { followLink } from './navigation.ts';
import { openAs } from './people.ts';
import { forEachLanguage, say } from './translations.ts';

const SLOW = { timeout: 60_000 };
/** Micro-STAGI an hour: of the servers, and one at which a balance lasts no second. */
const PRICE = 92_000n;
const DEAR = 10n ** 12n;
/** Of three servers with 50 STAGI: 5 days and some hours, and about half a day. */
const FIVE_DAYS = 131_000n;
const HALF_A_DAY = 1_400_000n;

let app: CloudApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startCloudApp({ METERING_SECONDS: '1' })));
});
test.afterAll(() => stop?.());

test('somebody whose servers use up their balance is told, chooses what a small credit starts, and finds every second in the bill', async ({
  browser,
}) => {
  test.setTimeout(240_000);
  const ada = await app.signUp('Ada Lovelace');
  const servers = [
    await rentServer(ada, { title: 'Trainer', slug: 'trainer' }),
    await rentServer(ada, { title: 'Notebook', slug: 'notebook' }),
    await rentServer(ada, { title: 'Metal', slug: 'metal' }),
  ];
  const [trainer, notebook, metal] = servers as [Instance, Instance, Instance];
  await sql`update instance set offer = offer || '{"canStop": false}' where id = ${metal.id}`.execute(app.ctx.db);
  const becomes = (server: Instance, status: Instance['status']) =>
    expect.poll(async () => (await viewInstance(ada, server.id)).status, SLOW).toBe(status);
  for (const server of servers) await becomes(server, 'online');
  const page = await openAs(browser, app.url, ada, '/profile/usage');
  const rows = page.getByTestId('usage-row');
  const header = page.getByRole('banner');

  await test.step('what runs costs, second by second', async () => {
    await expect(rows.filter({ hasText: 'ongoing' })).toHaveCount(3);
    await expect(rows.filter({ hasText: 'trainer' })).toContainText('0.09');
    await expect(page.getByTestId('spend-chart')).toBeVisible();
    await expectAccessible(page, 'usage');
  });

  await test.step('before the click renting says when the balance will be empty and what is lost then, in four languages', async () => {
    await priced(servers, FIVE_DAYS);
    await unstoppable(page);
    await followLink(page, '/cloud/marketplace');
    const rent = page.getByRole('dialog');
    await forEachLanguage(page, {
      async look(language) {
        const { days, empties, lost } = SAID[language];
        await expect(header.getByText(days)).toBeVisible(SLOW);
        await page.getByTestId('offer-row').first().getByText(say(language, 'Rent'), { exact: true }).click();
        await expect(rent.getByText(empties)).toBeVisible();
        await expect(rent.getByText(lost)).toBeVisible();
        await expect(rent.getByText(say(language, 'This provider cannot stop servers'), { exact: true })).toBeVisible();
      },
      async leave() {
        await page.keyboard.press('Escape');
        await expect(rent).toBeHidden();
      },
    });
    await priced(servers, HALF_A_DAY);
    await expect(
      page.getByText('Servers that cannot be stopped are terminated before the balance runs out'),
    ).toBeVisible(SLOW);
    await expect(header.getByText('< 1 day left')).toBeVisible();
    await expectAccessible(page, 'a low balance');
  });

  await test.step('at zero every page says so in four languages, and everything is stopped', async () => {
    await followLink(page, '/profile/usage');
    await priced(servers, DEAR);
    await expect(page.getByText('You have no STAGI left. All your instances and tasks are paused.')).toBeVisible(SLOW);
    await priced([trainer, notebook], PRICE);
    for (const server of [trainer, notebook]) await becomes(server, 'stopped');
    await becomes(metal, 'terminated');
    await expect.poll(() => unsettled(ada), SLOW).toBe(0);
    await forEachLanguage(page, {
      async look(language) {
        const { none, paused, kept, gone, zero, figures } = SAID[language];
        await expect(header.getByText(none, { exact: true })).toBeVisible(SLOW);
        await expect(page.getByTestId('balance')).toHaveText(zero);
        const notice = page.getByRole('status').filter({ hasText: paused });
        await expect(notice).toContainText(kept, SLOW);
        await expect(notice).toContainText(gone, SLOW);
        for (const words of figures) await expect(page.getByText(words, { exact: true }).first()).toBeVisible();
        for (const words of ['Uncollected at zero balance', 'Quoted', 'Seconds', 'Show as table', 'Export as CSV'])
          await expect(page.getByText(say(language, words), { exact: true }).first()).toBeVisible();
      },
    });
    await expectAccessible(page, 'a balance of zero');
    await page.getByTestId('zero-see').click();
    const dialog = page.getByTestId('zero-dialog');
    await expect(dialog.getByRole('list').nth(0).getByRole('listitem')).toHaveText([/^Notebook/, /^Trainer/]);
    await expect(dialog.getByRole('region', { name: 'Terminated, with the data on them' })).toContainText('Metal');
    await expectAccessible(page, 'what zero stopped');
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
  });

  await test.step('renting is refused, and the form says why before', async () => {
    await followLink(page, '/cloud/marketplace');
    await page.getByTestId('offer-row').first().getByText('Rent', { exact: true }).click();
    const rent = page.getByRole('dialog');
    await expect(rent.getByText(/Renting needs a balance of 0\.1\d* STAGI/)).toBeVisible();
    await rent.getByLabel('Title').fill('One more');
    await rent.getByTestId('rent-submit').click();
    await expect(
      page.getByText(/The balance must cover an hour of everything that runs: .* 0\.00 available/),
    ).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(rent).toBeHidden();
    await followLink(page, '/profile/usage');
    await expect(rows.first()).toBeVisible();
  });

  await test.step('a credit that does not cover all of it asks what is to start', async () => {
    await credit(ada, PRICE + PRICE / 2n);
    await page.getByTestId('zero-choose').click(SLOW);
    const dialog = page.getByTestId('zero-dialog');
    const start = dialog.getByTestId('zero-resume');
    await dialog.getByRole('checkbox', { name: 'Trainer' }).check();
    await dialog.getByRole('checkbox', { name: 'Notebook' }).check();
    await expect(start).toHaveAttribute('aria-disabled', 'true');
    await dialog.getByRole('checkbox', { name: 'Notebook' }).uncheck();
    await expect(start).not.toHaveAttribute('aria-disabled', 'true');
    await expectAccessible(page, 'what a credit starts');
    await start.click();
    await expect(dialog).toBeHidden();
    await becomes(trainer, 'online');
    await expect(page.getByTestId('zero-choose')).toBeHidden(SLOW);
    await expect(header.getByText('< 1 day left')).toBeVisible(SLOW);
    expect((await viewInstance(ada, notebook.id)).status).toBe('stopped');
  });

  await test.step('the bill as a file is the ledger’s, to the last unit, and fits a phone', async () => {
    await ada.client(api.instances.terminate, { id: trainer.id });
    await ada.client(api.instances.terminate, { id: notebook.id });
    for (const server of servers) await becomes(server, 'terminated');
    await expect.poll(() => unsettled(ada), SLOW).toBe(0);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.reload();
    await expect(rows.filter({ hasText: 'ongoing' })).toHaveCount(0);
    await expect(rows.first()).toBeVisible();
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('usage-export').click()]);
    const charged = chargedIn(readFileSync(await download.path(), 'utf8'));
    expect(charged.length).toBeGreaterThanOrEqual(6);
    expect(charged.reduce((sum, amount) => sum + amount, 0n)).toBe(await spent(ada));
  });
  await page.context().close();
});

/** What the header, the notice and the figures say, and the form before the click; dates change with the day. */
const SAID: Record<
  Language,
  Record<'days' | 'none' | 'zero' | 'paused', string> & {
    empties: RegExp;
    lost: string;
    kept: RegExp;
    gone: string;
    figures: string[];
  }
> = {
  en: {
    days: '5 days left',
    none: '0 days left',
    zero: '0.00 STAGI',
    empties: /^This rental empties the balance on \w{3} \d\d\.\d\d\.\d{4} \d\d:\d\d$/,
    lost: 'Its data is lost when the balance runs out',
    paused: 'You have no STAGI left. All your instances and tasks are paused.',
    kept: /2 stopped servers are kept with their data until \d\d\.\d\d\.\d{4} \d\d:\d\d\./,
    gone: 'One server that cannot be stopped was terminated; the data on it is lost.',
    figures: ['Charged', 'Total'],
  },
  ru: {
    days: 'осталось 5 дней',
    none: 'осталось 0 дней',
    zero: '0,00 STAGI',
    empties: /^С этой арендой баланс закончится [а-я]{2} \d\d\.\d\d\.\d{4} \d\d:\d\d$/,
    lost: 'Когда баланс закончится, его данные будут потеряны',
    paused: 'У вас не осталось STAGI. Все ваши инстансы и задачи приостановлены.',
    kept: /2 остановленных сервера с данными хранятся до \d\d\.\d\d\.\d{4} \d\d:\d\d\./,
    gone: 'Аренда 1 сервера, который нельзя остановить, завершена; данные на нём потеряны.',
    figures: ['Списано', 'Всего'],
  },
  tr: {
    days: '5 gün kaldı',
    none: '0 gün kaldı',
    zero: '0,00 STAGI',
    empties: /^Bu kiralama bakiyeyi \p{L}{2,3} \d\d\.\d\d\.\d{4} \d\d:\d\d tarihinde bitirir$/u,
    lost: 'Bakiye bittiğinde verileri kaybolur',
    paused: 'STAGI’niz kalmadı. Tüm örnekleriniz ve görevleriniz duraklatıldı.',
    kept: /Durdurulan 2 sunucu, verileriyle birlikte \d\d\.\d\d\.\d{4} \d\d:\d\d tarihine kadar saklanır\./,
    gone: 'Durdurulamayan 1 sunucu sonlandırıldı; üzerindeki veriler kayboldu.',
    figures: ['Tahsil edilen', 'Toplam'],
  },
  cn: {
    days: '剩余 5 天',
    none: '剩余 0 天',
    zero: '0.00 STAGI',
    empties: /^此租用将于 周. \d\d\.\d\d\.\d{4} \d\d:\d\d 用完余额$/,
    lost: '余额用完时，其数据会丢失',
    paused: '您的 STAGI 已用完。您的所有实例和任务均已暂停。',
    kept: /2 台已停止的服务器及其数据将保留至 \d\d\.\d\d\.\d{4} \d\d:\d\d。/,
    gone: '1 台无法停止的服务器已被终止，其上的数据已丢失。',
    figures: ['已扣费', '合计'],
  },
};

/** Offers as of a cloud that cannot stop servers: the simulated one can. */
async function unstoppable(page: Page): Promise<void> {
  await page.route('**/frontend-api/hardware/offer/list', async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    for (const offer of answer.entities) offer.canStop = false;
    await route.fulfill({ response, json: answer });
  });
}

async function priced(servers: Instance[], price: bigint): Promise<void> {
  for (const { id } of servers)
    await inTransaction(app.ctx.db, async (trx) => {
      await sql`update instance set price_per_hour = ${price} where id = ${id}`.execute(trx);
      await syncSegments(trx, id);
    });
}

async function credit({ workspaceId }: Person, micro: bigint): Promise<void> {
  await inTransaction(app.ctx.db, (trx) =>
    post(trx, 'promo', `zero-story:${workspaceId}`, workspaceId, [
      { account: 'promo', amount: asMicro(-micro) },
      { account: accountOf(workspaceId, 'credit'), amount: asMicro(micro) },
    ]),
  );
}

/** Intervals that are over and not charged to their end: a credit would pay for them. */
async function unsettled({ workspaceId }: Person): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from segment
    where client_id = ${workspaceId} and not settled and (ended_at is not null or rate = 'running')`.execute(
    app.ctx.db,
  );
  return rows[0]!.n;
}

async function spent({ workspaceId }: Person): Promise<bigint> {
  const { rows } = await sql<{ spent: bigint }>`select -coalesce(sum(p.amount), 0)::bigint as spent
    from posting p join account a on a.id = p.account_id join journal j on j.id = p.journal_id
    where a.client_id = ${workspaceId} and j.kind in ('usage', 'refund')`.execute(app.ctx.db);
  return rows[0]!.spent;
}

/** The column of what was charged, of a file whose texts hold no comma. */
function chargedIn(csv: string): bigint[] {
  const [head, ...lines] = csv
    .replace(/^\uFEFF/, '')
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  const column = head!.findIndex((name) => /^charged/i.test(name));
  return lines.map((line) => fromDecimal(line[column]!));
}
