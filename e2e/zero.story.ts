import { readFileSync } from 'node:fs';
import { api } from '@stagi/contract/api.ts';
import type { Instance } from '@stagi/contract/instances.ts';
import { asMicro, fromDecimal } from '@stagi/contract/money.ts';
import { accountOf } from '@stagi/server/src/billing/accounts.ts';
import { post } from '@stagi/server/src/billing/ledger.ts';
import { followSegments } from '@stagi/server/src/billing/segments.ts';
import { inTransaction } from '@stagi/server/src/db/pool.ts';
import { type CloudApp, rentOne, seen, startCloudApp } from '@stagi/server/src/testing/cloudApp.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { onOwnPostgres } from './ownApp.ts';
import { openAs } from './people.ts';
import { sideways } from './readable.ts';

const SLOW = { timeout: 60_000 };
/** Micro-STAGI an hour: of the servers, and one at which a balance lasts no second. */
const PRICE = 92_000n;
const DEAR = 10n ** 12n;

let app: CloudApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await onOwnPostgres(() => startCloudApp({ METERING_SECONDS: '1' })));
});
test.afterAll(() => stop?.());

test('somebody whose servers use up their balance is told, chooses what a small credit starts, and finds every second in the bill', async ({
  browser,
}) => {
  test.setTimeout(240_000);
  const ada = await app.signUp('Ada Lovelace');
  const servers = [
    await rentOne(ada, { title: 'Trainer', slug: 'trainer' }),
    await rentOne(ada, { title: 'Notebook', slug: 'notebook' }),
  ];
  const [trainer, notebook] = servers as [Instance, Instance];
  const becomes = (server: Instance, status: Instance['status']) =>
    expect.poll(async () => (await seen(ada, server.id)).status, SLOW).toBe(status);
  for (const server of servers) await becomes(server, 'online');
  const page = await openAs(browser, app.url, ada, '/profile/usage');
  const rows = page.getByTestId('usage-row');
  const header = page.getByRole('banner');

  await test.step('what runs costs, second by second', async () => {
    await expect(rows.filter({ hasText: 'goes on' })).toHaveCount(2);
    await expect(rows.filter({ hasText: 'trainer' })).toContainText('0.09');
    await expect(page.getByTestId('spend-chart')).toBeVisible();
    await expectAccessible(page, 'usage');
  });

  await test.step('at zero every page says so, and everything is stopped', async () => {
    await priced(servers, DEAR);
    await expect(page.getByText('You have no STAGI left. All your instances and tasks are paused.')).toBeVisible(SLOW);
    await priced(servers, PRICE);
    await expect(header.getByText('0 days left')).toBeVisible(SLOW);
    await expect(page.getByTestId('balance')).toHaveText('0.00 STAGI');
    for (const server of servers) await becomes(server, 'stopped');
    await expect.poll(() => unsettled(ada), SLOW).toBe(0);
    await expectAccessible(page, 'a balance of zero');
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
    expect((await seen(ada, notebook.id)).status).toBe('stopped');
  });

  await test.step('the bill as a file is the ledger’s, to the last unit, and fits a phone', async () => {
    await ada.client(api.instances.terminate, { id: trainer.id });
    await ada.client(api.instances.terminate, { id: notebook.id });
    for (const server of servers) await becomes(server, 'terminated');
    await expect.poll(() => unsettled(ada), SLOW).toBe(0);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.reload();
    await expect(rows.filter({ hasText: 'goes on' })).toHaveCount(0);
    await expect(rows.first()).toBeVisible();
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('usage-export').click()]);
    const charged = chargedIn(readFileSync(await download.path(), 'utf8'));
    expect(charged.length).toBeGreaterThanOrEqual(4);
    expect(charged.reduce((sum, amount) => sum + amount, 0n)).toBe(await spent(ada));
  });
  await page.context().close();
});

async function priced(servers: Instance[], price: bigint): Promise<void> {
  for (const { id } of servers)
    await inTransaction(app.ctx.db, async (trx) => {
      await sql`update instance set price_per_hour = ${price} where id = ${id}`.execute(trx);
      await followSegments(trx, id);
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
