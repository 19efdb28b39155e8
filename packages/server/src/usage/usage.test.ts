import { api } from '@stagi/contract/api.ts';
import { fromDecimal } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { credit } from '../billing/meteredWorkspace.ts';
import { meterWorkspace } from '../billing/meterWorkspace.ts';
import { syncSegments } from '../billing/segments.ts';
import { syncStorageSegment } from '../billing/storageSegments.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aRentedInstance, aStorage } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
let alice: Person;
/** Two servers that ran over four days, charged at many moments; one stopped, one goes on. */
beforeAll(async () => {
  // Its own pace is too slow to meet what is metered here.
  app = await startTestApp({ METERING_SECONDS: '86400' });
  alice = await app.signUp();
  const { db } = app.ctx;
  const ids = [await aRentedInstance(app.ctx, alice), await aRentedInstance(app.ctx, alice)];
  await sql`update instance set title = '=1+1', slug = 'summing' where id = ${ids[0]}`.execute(db);
  await sql`create table clock (at timestamptz not null)`.execute(db);
  await sql`insert into clock values (timestamptz '2026-03-01 06:00Z')`.execute(db);
  await sql`create or replace function metering_clock() returns timestamptz language sql volatile as 'select at from clock'`.execute(
    db,
  );
  await sql`insert into segment (client_id, kind, resource_id, rate, price, started_at, ended_at, metered_until, confirmed)
    values (${alice.workspaceId}, 'instance', ${ids[0]}, 'running', 70007, '2026-03-01 06:00Z', '2026-03-03 18:00:01.5Z', '2026-03-01 06:00Z', true),
      (${alice.workspaceId}, 'instance', ${ids[0]}, 'stopped', 3, '2026-03-03 18:00:01.5Z', null, '2026-03-03 18:00:01.5Z', true),
      (${alice.workspaceId}, 'instance', ${ids[1]}, 'running', 123457, '2026-03-02 00:00Z', null, '2026-03-02 00:00Z', true)`.execute(
    db,
  );
  await sql`insert into workspace_meter (client_id, metered_at) values (${alice.workspaceId}, metering_clock()) on conflict do nothing`.execute(
    db,
  );
  for (const at of [
    '2026-03-01 07:11Z',
    '2026-03-02 00:00Z',
    '2026-03-02 13:37Z',
    '2026-03-03 23:59:59Z',
    '2026-03-04 12:00Z',
  ]) {
    await sql`update clock set at = ${at}::timestamptz`.execute(db);
    await meterWorkspace(db, alice.workspaceId);
  }
});
afterAll(() => app?.close());

const list = (input: object = {}) => alice.client(api.usage.list, input);
const spent = async (): Promise<bigint> => {
  const { rows } = await sql<{ spent: bigint }>`select -coalesce(sum(p.amount), 0)::bigint as spent
    from posting p join account a on a.id = p.account_id join journal j on j.id = p.journal_id
    where a.client_id = ${alice.workspaceId} and j.kind in ('usage', 'refund')`.execute(app.ctx.db);
  return rows[0]!.spent;
};
const sum = (amounts: { decimalValue: string }[]): bigint =>
  amounts.reduce((all, { decimalValue }) => all + fromDecimal(decimalValue), 0n);

it('lists intervals with seconds, price and cost, whose sum is the ledger’s', async () => {
  const { entities, total, totalCount, days } = await list({
    entityFilterRequest: { orderByField: 'from', orderByDirection: 'asc' },
  });
  expect(totalCount).toBe(3);
  expect(entities[0]).toMatchObject({
    rate: 'running',
    from: '2026-03-01T06:00:00.000Z',
    seconds: 216_001.5,
    open: false,
  });
  expect(sum(entities.map(({ charged }) => charged))).toBe(await spent());
  expect(fromDecimal(total.charged.decimalValue)).toBe(await spent());
  expect(total.quoted).toEqual(total.charged);
  expect(sum(days.map(({ charged }) => charged))).toBe(await spent());
  expect(days.map(({ day }) => day)).toEqual(['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04']);
  expect((await spent()) > 0n).toBe(true);
});

it('adds up to the whole however the time is split where something was charged', async () => {
  const whole = await spent();
  for (const cut of ['2026-03-01T07:11:00', '2026-03-02T13:37:00', '2026-03-03T23:59:59']) {
    const before = await list({ to: `${cut}Z` });
    const after = await list({ from: `${cut}.001Z` });
    expect(sum([before.total.charged, after.total.charged])).toBe(whole);
  }
  expect((await list({ from: '2026-04-01T00:00:00Z' })).total.charged.decimalValue).toBe('0.00');
  expect((await list({ to: '2026-02-01T00:00:00Z' })).totalCount).toBe(0);
});

it('exports the same as CSV, harmless to spreadsheets', async () => {
  const { csv, next } = await alice.client(api.usage.export, {});
  expect(next).toBeNull();
  const [heading, ...lines] = csv
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  const charged = heading!.indexOf('charged');
  expect(lines).toHaveLength(3);
  expect(sum(lines.map((line) => ({ decimalValue: line[charged]! })))).toBe(await spent());
  expect(lines.some((line) => line[heading!.indexOf('title')] === "'=1+1")).toBe(true);
});

it('narrows rows, sum, days and file to the servers of a text', async () => {
  const of = (queryString: string) => list({ entityFilterRequest: { queryString } });
  const [summing, none] = [await of('SUMM'), await of('nobody’s')];
  expect(summing.entities.map(({ resource }) => resource.slug)).toEqual(['summing', 'summing']);
  const charged = fromDecimal(summing.total.charged.decimalValue);
  expect(charged > 0n && charged < (await spent())).toBe(true);
  expect(sum(summing.days.map((day) => day.charged))).toBe(charged);
  const { csv } = await alice.client(api.usage.export, { queryString: 'summing' });
  expect(csv.trimEnd().split('\r\n')).toHaveLength(1 + 2);
  expect(none).toMatchObject({ totalCount: 0, days: [], total: { charged: { decimalValue: '0.00' } } });
});

it('shows use over midnight that was given back as what was charged and what came back, and no row of nothing', async () => {
  const carol = await app.signUp();
  const id = await aRentedInstance(app.ctx, carol, 'terminated');
  const { db } = app.ctx;
  await sql`insert into segment (client_id, kind, resource_id, rate, price, started_at, ended_at, metered_until, confirmed)
    values (${carol.workspaceId}, 'instance', ${id}, 'running', 70000, '2026-03-31 23:38Z', '2026-04-01 00:38Z', '2026-03-31 23:38Z', false)`.execute(
    db,
  );
  await sql`insert into workspace_meter (client_id, metered_at) values (${carol.workspaceId}, metering_clock())`.execute(
    db,
  );
  await sql`update clock set at = '2026-04-01 01:38Z'`.execute(db);
  await meterWorkspace(db, carol.workspaceId);
  await sql`update segment set voided = true, settled = false where kind = 'instance' and resource_id = ${id}`.execute(
    db,
  );
  await meterWorkspace(db, carol.workspaceId);
  const { entities, totalCount } = await carol.client(api.transactions.list, { types: ['Spending'] });
  expect(entities.map(({ kind, day, amount }) => [kind, day, amount.decimalValue]).toSorted()).toEqual([
    ['refund', null, '0.07'],
    ['usage', '2026-04-01', '-0.07'],
  ]);
  expect(totalCount).toBe(2);
  const { days } = await carol.client(api.usage.list, {});
  expect(days.map(({ day, charged }) => [day, charged.decimalValue])).toEqual([['2026-04-01', '0.00']]);
});

it('lists storages beside servers: their size’s price, their transactions, by both names and in the file', async () => {
  const dora = await app.signUp();
  const { db } = app.ctx;
  const server = await aRentedInstance(app.ctx, dora);
  const storage = await aStorage(app.ctx, dora);
  await sql`update storage set title = 'Winter data', slug = 'winter-data' where id = ${storage}`.execute(db);
  await sql`update clock set at = '2026-05-01 00:00Z'`.execute(db);
  await credit(db, dora.workspaceId, 'card', 100_000_000n);
  await db.transaction().execute(async (trx) => {
    await sql`update instance set price_per_hour = 1000, machine_state = 'running' where id = ${server}`.execute(trx);
    await syncSegments(trx, server);
    await syncStorageSegment(trx, storage);
  });
  for (const at of ['2026-05-01 10:00Z', '2026-05-02 01:00Z']) {
    await sql`update clock set at = ${at}::timestamptz`.execute(db);
    await meterWorkspace(db, dora.workspaceId);
  }
  const { entities, total, days } = await dora.client(api.usage.list, {
    entityFilterRequest: { orderByField: 'title', orderByDirection: 'desc' },
  });
  expect(entities.map(({ resource, rate }) => [resource.kind, resource.id, rate])).toEqual([
    ['storage', storage, 'size'],
    ['instance-rented', server, 'running'],
  ]);
  // 10 GB cost 0.2 STAGI a month: 25 hours of it are 6849 micro-STAGI.
  expect(entities[0]).toMatchObject({
    resource: { slug: 'winter-data', title: 'Winter data' },
    price: { decimalValue: '0.20' },
    priceHours: 730,
    pricePerHour: { decimalValue: '0.000274' },
    seconds: 90_000,
    quoted: { decimalValue: '0.006849' },
    charged: { decimalValue: '0.006849' },
  });
  expect(fromDecimal(total.charged.decimalValue)).toBe(25_000n + 6_849n);
  expect(sum(days.map(({ charged }) => charged))).toBe(25_000n + 6_849n);

  const found = await dora.client(api.usage.list, { entityFilterRequest: { queryString: 'wInTeR' } });
  expect(found.entities.map(({ resource }) => resource.id)).toEqual([storage]);
  expect(sum(found.days.map(({ charged }) => charged))).toBe(6_849n);
  const { csv } = await dora.client(api.usage.export, {});
  const [heading, ...lines] = csv
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  const column = (name: string) => lines.map((line) => line[heading!.indexOf(name)]);
  expect(column('kind').toSorted()).toEqual(['instance-rented', 'storage']);
  expect(column('price_hours').toSorted()).toEqual(['1', '730']);

  const transactions = await dora.client(api.transactions.list, { types: ['Spending'] });
  const ofStorage = transactions.entities.filter(({ resource }) => resource?.kind === 'storage');
  expect(transactions.totalCount).toBe(4);
  expect(ofStorage.map(({ day, resource }) => [day, resource?.slug])).toEqual([
    ['2026-05-02', 'winter-data'],
    ['2026-05-01', 'winter-data'],
  ]);
  const { segments } = await dora.client(api.transactions.view, { id: ofStorage[1]!.id });
  expect(segments).toMatchObject([{ seconds: 36_000, priceHours: 730, price: { decimalValue: '0.20' } }]);
  expect(-sum(segments.map(({ amount }) => amount))).toBe(fromDecimal(ofStorage[1]!.amount.decimalValue));
});

it('shows nobody the use of another workspace', async () => {
  const bob = await app.signUp();
  expect(await bob.client(api.usage.list, {})).toMatchObject({ totalCount: 0, entities: [], days: [] });
});

it('has nothing in a stretch of time that ends before it begins', async () => {
  const range = { from: '2026-03-03T00:00:00Z', to: '2026-03-02T00:00:00Z' };
  expect(await list(range)).toMatchObject({ totalCount: 0, total: { charged: { decimalValue: '0.00' } }, days: [] });
  expect((await alice.client(api.transactions.list, range)).totalCount).toBe(0);
});

it('refuses a date that no calendar of the database has, in lists of money as well', async () => {
  for (const call of [api.usage.list, api.usage.export, api.transactions.list])
    for (const range of [{ from: '0000-01-01T00:00:00Z' }, { to: '0000-01-01T00:00:00Z' }])
      await expect(alice.client(call, range), `${call.path} ${Object.keys(range)}`).rejects.toMatchObject({
        status: 400,
      });
});
