import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../context.ts';
import { openPool, type Pool } from '../db/pool.ts';
import { createPrometheusCollector } from '../metrics/prometheus.ts';
import { createTestDatabase } from '../testing/database.ts';
import { beginBackup } from '../testing/runningBackup.ts';
import type { Place } from './place.ts';
import { quarantineUnknown } from './quarantineUnknown.ts';
import { approveRemoval, reviewPlaces } from './review.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: Pool;
let ctx: Pick<Context, 'db' | 'log' | 'meters'>;
const meters = createPrometheusCollector();
let errors: { msg: string; place: string; unknown: number; listed: number }[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool(database.url, { max: 2 });
  const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(JSON.parse(line)) });
  ctx = { db: pool.db, log, meters };
});
afterAll(async () => {
  meters.stop();
  await pool?.close();
  await database?.drop();
});
beforeEach(async () => {
  errors = [];
  await sql`truncate unknown_bytes, quarantine_place`.execute(ctx.db);
});

const nameOf = (n: number): string => `n${String(n).padStart(6, '0')}`;
const namesOf = (count: number): string[] => Array.from({ length: count }, (_, n) => nameOf(n));

/** `count` names, of which `unknown` have no row, spread over all of them. */
function aPlace(count: number, unknown: readonly string[]) {
  const bytes = new Set(namesOf(count));
  const rows = new Set([...bytes].filter((name) => !unknown.includes(name)));
  const place: Place = {
    name: 'objects/test',
    async *list() {
      for (const name of [...bytes].sort()) yield { name, bytes: 7, isKnown: rows.has(name) && name.endsWith('3') };
    },
    known: async (names) => new Set(names.filter((name) => rows.has(name))),
    exists: async (name) => bytes.has(name),
    remove: async (name) => void bytes.delete(name),
  };
  return { place, bytes, rows, compare: () => quarantineUnknown(ctx, place) };
}

const noted = async (): Promise<string[]> =>
  (await ctx.db.selectFrom('unknown_bytes').select('name').orderBy('name').execute()).map(({ name }) => name);
const age = (days: number) =>
  sql`update unknown_bytes set found_at = now() - interval '1 day' * ${days}`.execute(ctx.db);
async function metrics(): Promise<{ unknown: number; alarm: number }> {
  const text = await meters.text({}, null);
  const value = (name: string) => Number(new RegExp(`^${name}\\{place="objects/test"\\} (\\d+)$`, 'm').exec(text)?.[1]);
  return { unknown: value('stagi_unknown_bytes'), alarm: value('stagi_unknown_bytes_alarm') };
}

describe('bytes without a row', () => {
  it('are noted at once and removed after seven days', async () => {
    const { bytes, compare } = aPlace(200, [nameOf(7), nameOf(150)]);
    await compare();
    expect([await noted(), bytes.size]).toEqual([[nameOf(7), nameOf(150)], 200]);
    expect(await metrics()).toEqual({ unknown: 2, alarm: 0 });
    await age(6.9);
    await compare();
    expect([await noted(), bytes.size]).toEqual([[nameOf(7), nameOf(150)], 200]);
    await age(7.1);
    await compare();
    expect([await noted(), bytes.size, bytes.has(nameOf(7))]).toEqual([[], 198, false]);
    expect(await metrics()).toEqual({ unknown: 0, alarm: 0 });
    expect(errors).toEqual([]);
  });

  it('are forgotten, and stay, once their row is back, also when it comes at the last moment', async () => {
    const { place, bytes, rows, compare } = aPlace(200, [nameOf(7), nameOf(150)]);
    await compare();
    await age(8);
    rows.add(nameOf(7));
    const atTheEnd: Place = {
      ...place,
      async known(names) {
        const known = await place.known(names);
        rows.add(nameOf(150));
        return known;
      },
    };
    await quarantineUnknown(ctx, atTheEnd);
    expect([await noted(), bytes.size]).toEqual([[], 200]);
  });

  it('stay while a backup runs, and go with the next comparison', async () => {
    const { bytes, compare } = aPlace(200, [nameOf(7)]);
    await compare();
    await age(8);
    const backup = await beginBackup(database.url);
    await compare();
    expect([await noted(), bytes.size]).toEqual([[nameOf(7)], 200]);
    await backup.end();
    await compare();
    expect([await noted(), bytes.size]).toEqual([[], 199]);
  });

  it('begin their seven days anew when one comparison did not find them', async () => {
    const { bytes, compare } = aPlace(200, [nameOf(199)]);
    await compare();
    await age(8);
    bytes.delete(nameOf(199));
    await compare();
    expect(await noted()).toEqual([]);
    bytes.add(nameOf(199));
    await compare();
    expect([await noted(), bytes.size]).toEqual([[nameOf(199)], 200]);
  });

  it('are not noted when they were removed, with their row, while the place was listed', async () => {
    const { place, bytes } = aPlace(200, []);
    await quarantineUnknown(ctx, {
      ...place,
      async *list() {
        yield* place.list();
        bytes.clear();
      },
      known: async () => new Set(),
    });
    expect(await noted()).toEqual([]);
    expect(await metrics()).toEqual({ unknown: 0, alarm: 0 });
  });

  it.each([
    { what: '101 of 20,000', of: 20_000, unknown: 101, kept: 101 },
    { what: '100 of 20,000', of: 20_000, unknown: 100, kept: 0 },
    { what: '2 of 100', of: 100, unknown: 2, kept: 2 },
    { what: '1 of 100', of: 100, unknown: 1, kept: 0 },
    { what: 'the only one', of: 1, unknown: 1, kept: 1 },
  ])('are kept when they are more than 100 or more than 1 %: $what', async ({ of, unknown, kept }) => {
    const names = Array.from({ length: unknown }, (_, n) => nameOf(Math.floor((n * of) / unknown)));
    const { bytes, compare } = aPlace(of, names);
    await compare();
    await age(30);
    errors = [];
    await compare();
    expect([(await noted()).length, bytes.size]).toEqual([kept, of - unknown + kept]);
    expect(await metrics()).toEqual({ unknown: kept, alarm: kept > 0 ? 1 : 0 });
    expect(errors.map(({ place, unknown: count, listed }) => [place, count, listed])).toEqual(
      kept > 0 ? [['objects/test', kept, of]] : [],
    );
    for (const { msg } of errors) expect(msg).toContain('npm run operator -- unknown-remove objects/test');
  });
});

describe('an operator', () => {
  it('sees each place, and has what is noted now removed by the next comparison', async () => {
    const { bytes, rows, compare } = aPlace(300, namesOf(250));
    await compare();
    expect(await reviewPlaces(ctx.db)).toEqual([
      { place: 'objects/test', count: 250n, bytes: 1750n, since: expect.any(Date), approved: 0n, hasAlarm: true },
    ]);
    expect(await approveRemoval(ctx.db, 'files')).toBe(0n);
    expect(await approveRemoval(ctx.db, 'objects/test')).toBe(250n);
    expect((await reviewPlaces(ctx.db))[0]).toMatchObject({ count: 250n, approved: 250n });
    expect(bytes.size).toBe(300);
    // Known again, and found later: neither was approved.
    rows.add(nameOf(0));
    rows.delete(nameOf(290));
    await compare();
    expect(bytes.has(nameOf(0))).toBe(true);
    expect([await noted(), bytes.size]).toEqual([[nameOf(290)], 51]);
    expect(await metrics()).toEqual({ unknown: 1, alarm: 1 });
  });
});
