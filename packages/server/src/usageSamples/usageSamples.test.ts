import { api } from '@stagi/contract/api.ts';
import { USAGE_FEATURE } from '@stagi/contract/daemon.ts';
import type { MetricSeries, Metrics } from '@stagi/contract/metrics.ts';
import { newSeed } from '@stagi/contract/testing/random.ts';
import type { UsageSample } from '@stagi/contract/usageSample.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, enrolNode, type NodeKey, type TestDaemon } from '../testing/daemon.ts';
import { aContainer, anApiToken, aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { dropPartitions, makePartitions, partitions } from './partitions.ts';
import { writeSamples } from './record.ts';
import { thinSamples } from './thin.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 86_400 * SECOND_MS;

const QUIET = { received: 10, sent: 20, read: null, written: null };
const MACHINE: UsageSample['server'] = {
  cpu: 1.5,
  memory: 3e9,
  memoryTotal: 8e9,
  ...QUIET,
  disk: { used: 40e9, total: 100e9 },
  dataDisk: null,
};
const sampleOf = (more: Partial<UsageSample> = {}): UsageSample => ({
  server: MACHINE,
  gpus: [],
  containers: [],
  ...more,
});

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  // Without workers: the tests thin and drop themselves, at the times they say.
  app = await startTestApp({}, { role: 'api' });
  alice = await app.signUp();
});
afterAll(() => app?.close());

async function joined(id: number): Promise<{ key: NodeKey; daemon: TestDaemon }> {
  const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
  const key = await enrolNode(app.url, token);
  return { key, daemon: await connectDaemon(app.url, key, { features: [USAGE_FEATURE] }) };
}
const series = (metrics: Metrics, name: MetricSeries['name'], gpu?: number): MetricSeries | undefined =>
  metrics.series.find((one) => one.name === name && one.gpu === gpu);
const figures = (list: readonly (number | null)[] | undefined): number[] => (list ?? []).filter((one) => one !== null);

describe('the samples of a daemon', () => {
  it('are asked for in the welcome, and shown with their units and limits', async () => {
    const server = await aRentedInstance(app.ctx, alice);
    const container = await aContainer(app.ctx, alice, server);
    const { daemon } = await joined(server);
    expect(await daemon.next('welcome')).toMatchObject({ sampleSeconds: 15 });
    expect(await alice.client(api.metrics.rented, { id: server })).toMatchObject({ lastAt: null, isMeasured: true });
    daemon.send({
      type: 'usage',
      sample: sampleOf({
        gpus: [
          { index: 0, use: 97, memory: 30e9, memoryTotal: 80e9, temperature: 61, power: 412.5 },
          { index: 1, use: null, memory: 0, memoryTotal: 80e9, temperature: 30, power: null },
        ],
        containers: [{ id: container, cpu: 0.5, memory: 2e8, ...QUIET }],
      }),
    });
    await expect.poll(async () => (await alice.client(api.metrics.rented, { id: server })).lastAt).not.toBeNull();

    const ofServer = await alice.client(api.metrics.rented, { id: server });
    expect(ofServer).toMatchObject({ step: 15, isMeasured: true });
    expect(ofServer.times).toHaveLength(1);
    expect(Math.abs(ofServer.times[0]! - Date.now() / 1000)).toBeLessThan(300);
    // Stored in seven digits.
    const shown = ofServer.series.map(({ name, gpu, unit, limit, avg }) => [
      name,
      gpu ?? null,
      unit,
      limit && Number(limit.toPrecision(6)),
      Number(avg[0]?.toPrecision(6)),
    ]);
    expect(shown).toEqual([
      ['cpu', null, 'cores', 4, 1.5],
      ['memory', null, 'bytes', 8e9, 3e9],
      ['received', null, 'bytes/s', null, 10],
      ['sent', null, 'bytes/s', null, 20],
      ['disk', null, 'bytes', 100e9, 40e9],
      ['gpuUse', 0, '%', 100, 97],
      ['gpuMemory', 0, 'bytes', 80e9, 30e9],
      ['gpuTemperature', 0, '°C', null, 61],
      ['gpuPower', 0, 'W', null, 412.5],
      ['gpuMemory', 1, 'bytes', 80e9, 0],
      ['gpuTemperature', 1, '°C', null, 30],
    ]);

    const ofContainer = await alice.client(api.metrics.container, { id: container });
    expect(series(ofContainer, 'cpu')).toMatchObject({ limit: 1, avg: [0.5], max: [0.5] });
    expect(series(ofContainer, 'memory')).toMatchObject({ limit: null, avg: [2e8] });
    expect(series(ofContainer, 'disk')).toBeUndefined();
    await daemon.close();
  });

  it('of containers on other servers, of unknown ones and of fenced links are dropped', async () => {
    const [server, other] = [await aRentedInstance(app.ctx, alice), await aRentedInstance(app.ctx, alice)];
    const [own, foreign] = [await aContainer(app.ctx, alice, server), await aContainer(app.ctx, alice, other)];
    const bob = await app.signUp();
    const bobs = await aContainer(app.ctx, bob, await aRentedInstance(app.ctx, bob));
    const { key, daemon } = await joined(server);
    const ids = [foreign, bobs, 999_999_999, Number.MAX_SAFE_INTEGER, own];
    daemon.send({
      type: 'usage',
      sample: sampleOf({ containers: ids.map((id) => ({ id, cpu: 1, memory: 1, ...QUIET })) }),
    });
    await expect.poll(async () => (await alice.client(api.metrics.container, { id: own })).lastAt).not.toBeNull();
    const rows = await app.ctx.db
      .selectFrom('usage_sample_15s')
      .select('container_id')
      .where('instance_id', '=', server)
      .execute();
    expect(rows.map(({ container_id }) => container_id).toSorted((a, b) => a - b)).toEqual([0, own]);
    expect((await alice.client(api.metrics.container, { id: foreign })).lastAt).toBeNull();
    expect((await bob.client(api.metrics.container, { id: bobs })).lastAt).toBeNull();
    console.log(`samples of foreign containers: n = ${ids.length - 1}, stored 0`);

    const before = await rowsOf(server);
    const newer = await connectDaemon(app.url, key, { features: [USAGE_FEATURE] });
    await daemon.closed;
    // As if it had been on its way when the newer link came.
    const epoch = await epochOf(server);
    expect(await writeSamples(app.ctx.db, [{ instanceId: server, epoch: epoch - 1, sample: sampleOf() }])).toBe(0);
    expect(await rowsOf(server)).toBe(before);
    expect(await writeSamples(app.ctx.db, [{ instanceId: server, epoch, sample: sampleOf() }])).toBe(1);
    await newer.close();
  });

  it('with figures that nothing can measure close the link', async () => {
    const server = await aRentedInstance(app.ctx, alice);
    const { key, daemon } = await joined(server);
    await daemon.close();
    const bad = [{ cpu: -1 }, { cpu: '1' }, { memory: 1e19 }, { disk: null }];
    for (const change of bad) {
      const link = await connectDaemon(app.url, key);
      link.socket.send(JSON.stringify({ type: 'usage', sample: { ...sampleOf(), server: { ...MACHINE, ...change } } }));
      expect((await link.closed).code).toBe(1008);
    }
    expect(await rowsOf(server)).toBe(0);
  });

  it('are taken at half their interval at most', async () => {
    const server = await aRentedInstance(app.ctx, alice);
    const { daemon } = await joined(server);
    for (const cpu of [1, 2, 3]) daemon.send({ type: 'usage', sample: sampleOf({ server: { ...MACHINE, cpu } }) });
    await expect.poll(() => rowsOf(server)).toBe(1);
    expect(series(await alice.client(api.metrics.rented, { id: server }), 'cpu')?.avg).toEqual([1]);
    await daemon.close();
  });

  it('of one server cannot keep those of others from being written', async () => {
    const [server, other] = [await aRentedInstance(app.ctx, alice), await aRentedInstance(app.ctx, alice)];
    const { daemon } = await joined(server);
    const { daemon: others } = await joined(other);
    const tiny = { ...MACHINE, cpu: Number.MIN_VALUE, memory: 1e-60, received: 1e18 };
    await writeSamples(app.ctx.db, [
      { instanceId: server, epoch: await epochOf(server), sample: sampleOf({ server: tiny }) },
      { instanceId: other, epoch: await epochOf(other), sample: sampleOf() },
    ]);
    expect([await rowsOf(server), await rowsOf(other)]).toEqual([1, 1]);
    expect(series(await alice.client(api.metrics.rented, { id: server }), 'cpu')?.avg).toEqual([0]);
    await daemon.close();
    await others.close();
  });

  it('are not expected of an earlier agent, which is said', async () => {
    const server = await aRentedInstance(app.ctx, alice);
    const { key, daemon } = await joined(server);
    await daemon.close();
    const earlier = await connectDaemon(app.url, key, { features: ['tasks'] });
    await expect.poll(async () => (await alice.client(api.metrics.rented, { id: server })).isMeasured).toBe(false);
    await earlier.close();
  });
});

describe('the figures over time', () => {
  it('keep average and maximum when they are thinned, once however often that is done', async () => {
    const server = await aSelfHostedServer(app.ctx, alice);
    const seed = newSeed();
    const now = new Date();
    const base = Math.floor((now.getTime() - 2 * 3_600_000) / (15 * MINUTE_MS)) * 15 * MINUTE_MS;
    await startThinningAt(base);
    // 60 minutes of samples with a gap of ten, at uneven times.
    const samples = Array.from({ length: 240 }, (_, n) => ({
      at: new Date(base + n * 15_000 + (hash(seed, n) % 9_000)),
      cpu: (hash(seed, n + 1000) % 800) / 100,
    })).filter(({ at }) => at.getTime() < base + 20 * MINUTE_MS || at.getTime() >= base + 30 * MINUTE_MS);
    await insertSamples(server, samples);
    await Promise.all([thinSamples(app.ctx.db, now), thinSamples(app.ctx.db, now), thinSamples(app.ctx.db, now)]);
    await thinSamples(app.ctx.db, now);

    const bins = { '1m': MINUTE_MS, '15m': 15 * MINUTE_MS } as const;
    let compared = 0;
    for (const [name, length] of Object.entries(bins)) {
      const { rows } = await sql<{ at: Date; samples: number; cpu: number; cpu_max: number }>`
        select at, samples, cpu, cpu_max from ${sql.table(`usage_sample_${name}`)} where instance_id = ${server} order by at`.execute(
        app.ctx.db,
      );
      const wanted = Map.groupBy(samples, ({ at }) => Math.floor(at.getTime() / length) * length);
      expect(rows.map(({ at }) => at.getTime())).toEqual([...wanted.keys()]);
      for (const row of rows) {
        const within = wanted.get(row.at.getTime())!.map(({ cpu }) => cpu);
        expect(row.samples).toBe(within.length);
        expect(row.cpu, `seed ${seed}`).toBeCloseTo(within.reduce((sum, cpu) => sum + cpu, 0) / within.length, 4);
        expect(row.cpu_max).toBeCloseTo(Math.max(...within), 4);
        compared += 1;
      }
    }
    console.log(`thinned stretches: n = ${compared}, seed ${seed}`);

    // The same through the API, in steps of 1 min, 15 min and in between; the last hour is not yet thinned.
    const all = samples.map(({ cpu }) => cpu);
    for (const points of [1000, 150, 20]) {
      const shown = await alice.client(api.metrics.selfHosted, {
        id: server,
        from: new Date(base).toISOString(),
        to: new Date(base + 60 * MINUTE_MS).toISOString(),
        points,
      });
      const cpu = series(shown, 'cpu')!;
      expect(shown.times.length).toBeLessThanOrEqual(points);
      expect(cpu.avg).toHaveLength(shown.times.length);
      expect(Math.max(...figures(cpu.max))).toBeCloseTo(Math.max(...all), 4);
      const gap = shown.times.flatMap((time, n) =>
        time * 1000 >= base + 20 * MINUTE_MS && (time + shown.step) * 1000 <= base + 30 * MINUTE_MS ? [cpu.avg[n]] : [],
      );
      if (shown.step <= 300) expect(gap.length).toBeGreaterThan(0);
      expect(gap.every((figure) => figure === null)).toBe(true);
    }
  });

  it('show what is not thinned yet beside what is', async () => {
    const server = await aSelfHostedServer(app.ctx, alice);
    const now = Date.now();
    const base = Math.floor((now - 3 * 3_600_000) / (15 * MINUTE_MS)) * 15 * MINUTE_MS;
    await startThinningAt(base);
    await insertSamples(
      server,
      every(15_000, base, now - 20_000).map((at) => ({ at, cpu: 2 })),
    );
    // As a worker that stopped an hour ago left it.
    await thinSamples(app.ctx.db, new Date(now - 3_600_000));
    const shown = await alice.client(api.metrics.selfHosted, {
      id: server,
      from: new Date(base).toISOString(),
      points: 200,
    });
    expect(shown.step).toBe(60);
    const cpu = series(shown, 'cpu')!;
    expect(new Set(figures(cpu.avg))).toEqual(new Set([2]));
    // The minute under way may have no sample yet.
    expect(figures(cpu.avg).length).toBeGreaterThanOrEqual(shown.times.length - 1);
  });

  it('are in the finest steps that are kept for their age', async () => {
    const server = await aSelfHostedServer(app.ctx, alice);
    const now = Date.now();
    const ask = async (from: number, to: number, points: number) =>
      (
        await alice.client(api.metrics.selfHosted, {
          id: server,
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
          points,
        })
      ).step;
    expect(await ask(now - 3_600_000, now, 500)).toBe(15);
    expect(await ask(now - DAY_MS + MINUTE_MS, now, 500)).toBe(300);
    expect(await ask(now - 2 * DAY_MS, now - 2 * DAY_MS + 3_600_000, 500)).toBe(60);
    expect(await ask(now - 30 * DAY_MS, now - 30 * DAY_MS + 3_600_000, 500)).toBe(900);
    expect(await ask(now - 90 * DAY_MS, now, 500)).toBe(21_600);
    expect(await ask(now - 400 * DAY_MS, now, 10)).toBe(86_400 * 12);
    const answer = await alice.client(api.metrics.selfHosted, {
      id: server,
      from: new Date(now - 400 * DAY_MS).toISOString(),
    });
    expect(Math.round((now - Date.parse(answer.from)) / DAY_MS)).toBe(90);
  });

  it('are refused for a range that ends before it begins', async () => {
    const server = await aSelfHostedServer(app.ctx, alice);
    const [from, to] = ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'];
    await expect(alice.client(api.metrics.selfHosted, { id: server, from, to })).rejects.toMatchObject({
      status: 400,
      body: { message: 'The start must be before the end', fieldsWithError: ['from'] },
    });
  });

  it('are for whoever may see the server or the container, also by API token', async () => {
    const server = await aSelfHostedServer(app.ctx, alice);
    const container = await aContainer(app.ctx, alice, server);
    const bob = await app.signUp();
    for (const ask of [
      () => bob.client(api.metrics.selfHosted, { id: server }),
      () => bob.client(api.metrics.container, { id: container }),
      // A self-hosted server is no rented one.
      () => alice.client(api.metrics.rented, { id: server }),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404 });
    const { token } = await anApiToken(app.ctx, alice, { permissions: ['SELFHOSTED_INSTANCE_MANAGEMENT'] });
    const byToken = (path: string, id: number) => app.post(path, { id }, { authorization: `Bearer ${token}` });
    expect((await byToken(api.metrics.container.path, container)).status).toBe(200);
    expect((await byToken(api.metrics.selfHosted.path, server)).status).toBe(200);
    expect((await byToken(api.metrics.rented.path, server)).status).toBe(403);
  });
});

describe('the partitions', () => {
  it('are made ahead, and dropped when their time has passed and they are thinned', async () => {
    const { db } = app.ctx;
    const now = new Date();
    await Promise.all([makePartitions(db, now), makePartitions(db, now)]);
    const made = await partitions(db);
    for (const resolution of ['15s', '1m', '15m']) {
      const own = made.filter((one) => one.resolution === resolution);
      expect(own.some(({ start, end }) => start <= now && now < end)).toBe(true);
      expect(own.at(-1)!.end.getTime()).toBeGreaterThan(now.getTime() + DAY_MS);
    }
    const early = await dropPartitions(db, now);
    expect(early.filter((name) => made.some((one) => one.name === name && one.end > now))).toEqual([]);

    // A day that is over, but not thinned: it waits.
    await startThinningAt(now.getTime() - 10 * DAY_MS);
    const later = new Date(now.getTime() + 3 * DAY_MS);
    const tooEarly = await dropPartitions(db, later);
    expect(tooEarly.filter((name) => name.includes('15s')).length).toBeLessThan(
      made.filter(({ resolution, end }) => resolution === '15s' && later.getTime() - end.getTime() >= DAY_MS).length,
    );
    await makePartitions(db, later);
    await thinSamples(db, later);
    await dropPartitions(db, later);
    const left = (await partitions(db)).filter(({ resolution }) => resolution === '15s');
    expect(left.every(({ end }) => later.getTime() - end.getTime() < DAY_MS)).toBe(true);

    const muchLater = new Date(now.getTime() + 120 * DAY_MS);
    await dropPartitions(db, muchLater);
    expect(await partitions(db)).toEqual([]);
    await makePartitions(db, now);
    console.log(`partitions: n = ${made.length} made`);
  });

  it('are made by the first sample when the worker has not made them', async () => {
    const server = await aRentedInstance(app.ctx, alice);
    for (const { name } of await partitions(app.ctx.db)) await sql`drop table ${sql.table(name)}`.execute(app.ctx.db);
    const { daemon } = await joined(server);
    daemon.send({ type: 'usage', sample: sampleOf() });
    await expect.poll(async () => (await alice.client(api.metrics.rented, { id: server })).lastAt).not.toBeNull();
    await daemon.close();
  });
});

async function epochOf(server: number): Promise<number> {
  const { conn_epoch } = await app.ctx.db
    .selectFrom('daemon_node')
    .select('conn_epoch')
    .where('instance_id', '=', server)
    .executeTakeFirstOrThrow();
  return conn_epoch;
}

async function rowsOf(server: number): Promise<number> {
  const { count } = await app.ctx.db
    .selectFrom('usage_sample_15s')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('instance_id', '=', server)
    .executeTakeFirstOrThrow();
  return count;
}

async function insertSamples(server: number, samples: readonly { at: Date; cpu: number }[]): Promise<void> {
  for (const back of [2, 1, 0]) await makePartitions(app.ctx.db, new Date(Date.now() - back * DAY_MS));
  await sql`insert into usage_sample_15s (instance_id, container_id, gpu, at, samples, cpu)
    select ${server}, 0, -1, at, 1, cpu
    from unnest(${samples.map(({ at }) => at)}::timestamptz[], ${samples.map(({ cpu }) => cpu)}::real[]) as sample (at, cpu)`.execute(
    app.ctx.db,
  );
}

async function startThinningAt(time: number): Promise<void> {
  await app.ctx.db
    .updateTable('usage_thinning')
    .set({ until: new Date(time) })
    .execute();
}

const every = (ms: number, from: number, to: number): Date[] =>
  Array.from({ length: Math.ceil((to - from) / ms) }, (_, n) => new Date(from + n * ms));

/** A number that looks random, the same for the same seed. */
function hash(seed: number, n: number): number {
  let x = (seed ^ Math.imul(n + 1, 0x9e3779b1)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b) >>> 0;
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35) >>> 0;
  return (x ^ (x >>> 16)) >>> 0;
}
