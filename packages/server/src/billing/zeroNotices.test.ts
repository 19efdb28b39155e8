import { api } from '@stagi/contract/api.ts';
import type { Language } from '@stagi/contract/languages.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { enforceZeroBalances } from '../metering/zeroBalance.ts';
import { sendZeroNotices } from '../metering/zeroNotices.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { mailsTo, type Person } from '../testing/person.ts';

/** Before now, which is when what is done about it happens. */
const ZERO = '2024-03-01T14:30:00Z';
const DAY_MS = 86_400_000;
/** Workers that look at the same moment. */
const AT_ONCE = 4;

let app: TestApp;
beforeAll(async () => {
  // Nothing follows a balance here but the test.
  app = await startTestApp({ STARTER_CREDIT: '0' }, { role: 'api' });
  const { db } = app.ctx;
  await sql`create table clock (at timestamptz not null)`.execute(db);
  await sql`insert into clock values (${ZERO}::timestamptz)`.execute(db);
  await sql`create or replace function metering_clock() returns timestamptz language sql volatile as 'select at from clock'`.execute(
    db,
  );
});
afterAll(() => app?.close());

interface Household {
  owner: Person;
  /** Members by what they do here and read. */
  biller: Person;
  developer: Person;
}

/** Whose balance is used up at `ZERO`, with servers of these names: stopped long ago, running, and running where no cloud can stop it. */
async function anEmptyWorkspace(language: Language, now = ZERO): Promise<Household> {
  const { db } = app.ctx;
  await setClock(now);
  const [owner, biller, developer] = [await app.signUp(), await app.signUp(), await app.signUp()];
  await owner.client(api.user.edit, { language });
  await biller.client(api.user.edit, { language: 'en' });
  await db
    .insertInto('membership')
    .values([
      { workspace_id: owner.workspaceId, user_id: biller.userId, role: 'Billing' },
      { workspace_id: owner.workspaceId, user_id: developer.userId, role: 'Developer' },
    ])
    .execute();
  for (const [title, status, canStop] of [
    ['Archive', 'stopped', true],
    ['Trainer', 'online', true],
    ['Metal', 'online', false],
  ] as const) {
    const id = await aRentedInstance(app.ctx, owner, status);
    await sql`update instance set title = ${title}, desired = ${status === 'stopped' ? 'stopped' : 'running'},
      offer = offer || ${JSON.stringify({ canStop })}::jsonb where id = ${id}`.execute(db);
  }
  await sql`insert into workspace_meter (client_id, metered_at) values (${owner.workspaceId}, metering_clock())
    on conflict do nothing`.execute(db);
  await sql`update workspace set exhausted_at = ${ZERO}::timestamptz where id = ${owner.workspaceId}`.execute(db);
  return { owner, biller, developer };
}

async function setClock(at: string): Promise<void> {
  await sql`update clock set at = ${at}::timestamptz`.execute(app.ctx.db);
}

const after = (days: number, ms = 0) => setClock(new Date(Date.parse(ZERO) + days * DAY_MS + ms).toISOString());

/** What several workers do at once. */
async function look(): Promise<void> {
  await enforceZeroBalances(app.ctx);
  await Promise.all(Array.from({ length: AT_ONCE }, () => sendZeroNotices(app.ctx)));
}

/** About money, the oldest first. */
async function told({ email }: Person): Promise<{ subject: string; text: string }[]> {
  const mails = await mailsTo(app.url, email);
  return mails.filter(({ text }) => text.includes('/profile/balance')).toReversed();
}

it.each([
  ['en', '15.03.2024 UTC', '15.03.2024 14:30 UTC'],
  ['ru', '15.03.2024 UTC', '15.03.2024 14:30 UTC'],
  ['tr', '15.03.2024 UTC', '15.03.2024 14:30 UTC'],
  ['cn', '15.03.2024 UTC', '15.03.2024 14:30 UTC'],
] as const)(
  'tells who sees to the money in %s at once, 7 days and 1 day before, and when it is deleted: each once',
  async (language, day, moment) => {
    const { owner, biller, developer } = await anEmptyWorkspace(language);
    const counts = async () => [(await told(owner)).length, (await told(biller)).length];

    await look();
    expect(await counts()).toEqual([1, 1]);
    const [first] = await told(owner);
    for (const word of [moment, 'Archive', 'Trainer', 'Metal']) expect(first!.text).toContain(word);
    // What is lost stands apart from what is kept until then.
    expect(first!.text.split('\n').filter((line) => line.includes('Metal'))).toEqual([
      expect.not.stringMatching(/Archive|Trainer/),
    ]);
    const [toBiller] = await told(biller);
    expect(toBiller!.text).toContain('The data on them is lost: Metal.');
    expect(toBiller!.text).toContain('Stopped servers: Archive, Trainer');
    expect(await owner.client(api.billing.balance, {})).toMatchObject({
      exhausted: true,
      zero: { keptUntil: '2024-03-15T14:30:00.000Z', kept: 2, lost: 1, credited: false },
    });
    const { lost, keptUntil } = await owner.client(api.billing.zero, {});
    expect(lost.map(({ title }) => title)).toEqual(['Metal']);
    expect(keptUntil).toBe('2024-03-15T14:30:00.000Z');

    await after(7, -1);
    await look();
    expect(await counts()).toEqual([1, 1]);
    await after(7);
    await look();
    await look();
    expect(await counts()).toEqual([2, 2]);
    const second = (await told(owner))[1]!;
    expect(second.subject).toContain(day);
    for (const word of [moment, 'Archive, Trainer']) expect(second.text).toContain(word);
    expect(second.text).not.toContain('Metal');

    await after(13, -1);
    await look();
    expect(await counts()).toEqual([2, 2]);
    await after(13);
    await look();
    expect(await counts()).toEqual([3, 3]);
    expect((await told(owner))[2]!.subject).toBe(second.subject);

    await after(14);
    await look();
    expect(await counts()).toEqual([3, 3]);
    await after(14, 1);
    await look();
    await look();
    expect(await counts()).toEqual([4, 4]);
    const last = (await told(owner))[3]!;
    expect(last.text).toContain('Archive, Trainer');
    expect(last.text).not.toContain('Metal');
    expect(await told(developer)).toEqual([]);
  },
);

it('sends only the newest notice after the platform was away, and begins anew with the next zero balance', async () => {
  const { owner } = await anEmptyWorkspace('en', '2024-03-14T15:00:00Z');
  await look();
  expect((await told(owner)).map(({ subject }) => subject)).toEqual([
    expect.stringContaining('will be deleted on 15.03.2024 UTC'),
  ]);
  const { db } = app.ctx;
  await sql`update workspace set exhausted_at = null where id = ${owner.workspaceId}`.execute(db);
  await sql`update workspace_meter set notices = 0 where client_id = ${owner.workspaceId}`.execute(db);
  await look();
  await sql`update workspace set exhausted_at = metering_clock() where id = ${owner.workspaceId}`.execute(db);
  await look();
  expect((await told(owner)).map(({ subject }) => subject)).toEqual([
    expect.stringContaining('15.03.2024 UTC'),
    expect.stringContaining('has no STAGI left'),
  ]);
  expect((await told(owner))[1]!.text).toContain('28.03.2024');
});
