import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { line, openLog } from '../logging/testing/shipped.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { type CloudApp, rentServer, startCloudApp, viewInstance, waitForStatus } from '../testing/cloudApp.ts';
import { connectDaemon, enrolNode, type NodeKey } from '../testing/daemon.ts';
import { aContainer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { keepLogBuckets } from './keep.ts';
import { objectsOf, zstdcat } from './testing/readBucket.ts';

let app: CloudApp;
let alice: Person;
beforeAll(async () => {
  app = await startCloudApp({ LOG_COPY_SECONDS: '1' });
});
// A plan allows few servers at a time.
beforeEach(async () => {
  alice = await app.signUp();
});
afterAll(() => app?.close());

const WAIT = { timeout: 20_000, interval: 50 };

interface Server {
  id: number;
  slug: string;
  storageId: number;
  key: NodeKey;
}

/** An online rented server whose log bucket is made, and whose daemon is enrolled. */
async function aServer(): Promise<Server> {
  const { id, slug } = await rentServer(alice);
  const { logBucket } = await waitForStatus(alice, id, 'online');
  const storageId = logBucket!.storageId;
  await expect.poll(() => statusOf(storageId), WAIT).toBe('rented');
  const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
  return { id, slug, storageId, key: await enrolNode(app.url, token) };
}

const statusOf = async (id: number) => (await alice.client(api.storages.view, { id })).entity.status;

const storageRow = (id: number) =>
  app.ctx.db.selectFrom('storage').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

async function print(server: Server, containerId: number, records: Uint8Array[]) {
  const daemon = await connectDaemon(app.url, server.key);
  const ship = await openLog(daemon, containerId);
  await ship.print(...records);
  return ship;
}

/** Waits until nothing of a container is left to copy. */
async function copied(containerId: number): Promise<void> {
  const left = sql<{ left: number }>`
    select (head.last_seq - copy.copied_seq)::integer
      + (select count(*)::integer from log_chunk where container_id = ${containerId} and state = 'intent') as left
    from log_head head join log_copy copy using (container_id) where container_id = ${containerId}`;
  await expect.poll(async () => (await left.execute(app.ctx.db)).rows[0]?.left, WAIT).toBe(0);
}

async function linesInPostgres(containerId: number) {
  const source = { type: 'docker-container' as const, id: containerId };
  return (await alice.client(api.logging.query, { source, limit: 1000, cursor: { after: 0 } })).lines;
}

const recordsOf = async (storageId: number) => zstdcat((await objectsOf(app.ctx, storageId)).values());

async function slugOf(containerId: number): Promise<string> {
  const { entity } = await alice.client(api.containers.view, { id: containerId });
  return entity.slug;
}

describe('a log bucket', () => {
  it('comes with a rented server, keeps its name and follows its title', async () => {
    const { id, slug } = await rentServer(alice, { title: 'Trainer', slug: 'trainer' });
    const { logBucket } = await viewInstance(alice, id);
    expect(logBucket).toEqual({ storageId: expect.any(Number), usedBytes: 0, sizeGb: 100 });
    const row = await storageRow(logBucket!.storageId);
    expect(row).toMatchObject({
      kind: 'log',
      title: 'Trainer logs',
      price_per_month: 0n,
      workspace_id: alice.workspaceId,
    });
    expect(row.slug).toMatch(new RegExp(`^log-${slug}-[a-z0-9]{6}$`));
    await alice.client(api.instances.edit, { id, title: 'Renamed' });
    expect(await storageRow(row.id)).toMatchObject({ title: 'Renamed logs', slug: row.slug });
  });

  it('gets each line once, with gaps in their place, as files that zstdcat reads', async () => {
    const server = await aServer();
    const container = await aContainer(app.ctx, alice, server.id);
    const hour = BigInt(Date.UTC(2026, 2, 1, 22)) * 1_000_000n;
    const ship = await print(server, container, [
      line('one', { timeNs: hour + 1n }),
      line('two "quoted" \u0007 ünï 🚀', { timeNs: hour + 2n, stream: 'stderr' }),
    ]);
    const gap = {
      from: '2026-03-01T22:30:00.000000000Z',
      to: '2026-03-01T22:40:00.000000000Z',
      reason: 'rotated away',
    };
    const offset = await ship.print(line('three', { timeNs: hour + 3n }));
    ship.daemon.send({ type: 'log-gap', stream: 1, offset, ...gap });
    await ship.print(line('next hour', { timeNs: hour + 3_600_000_000_000n }), line('', { timeNs: hour + 4n }));
    await copied(container);
    await ship.print(line('later', { timeNs: hour + 3_600_000_000_001n }));
    await copied(container);

    const slug = await slugOf(container);
    const objects = await objectsOf(app.ctx, server.storageId);
    expect([...objects.keys()]).toEqual([
      `${slug}/2026/03/01/22-000000000001.ndjson.zst`,
      `${slug}/2026/03/01/23-000000000004.ndjson.zst`,
      `${slug}/2026/03/01/23-000000000006.ndjson.zst`,
    ]);
    const lines = await linesInPostgres(container);
    expect(lines).toHaveLength(6);
    expect(await zstdcat(objects.values())).toEqual([
      ...lines.slice(0, 3),
      { gap: { afterSeq: 3, ...gap } },
      ...lines.slice(3),
    ]);
    expect(lines[1]).toEqual({
      seq: 2,
      time: '2026-03-01T22:00:00.000000002Z',
      stream: 'stderr',
      text: 'two "quoted" \u0007 ünï 🚀',
    });
    const size = [...objects.values()].reduce((sum, { length }) => sum + length, 0);
    expect((await viewInstance(alice, server.id)).logBucket).toMatchObject({ usedBytes: size });
    const storage = (await alice.client(api.storages.view, { id: server.storageId })).entity;
    expect(storage).toMatchObject({ kind: 'log', usedBytes: size, objectCount: 3, instance: { id: server.id } });
    const { id } = storage;
    const key = { title: 'reader', mode: 'read-write' as const };
    await expect(alice.client(api.storages.edit, { id, sizeGb: 200 })).rejects.toThrow('fixed size');
    await expect(alice.client(api.storages.delete, { id, slugTyped: storage.slug })).rejects.toThrow('30 days');
    await expect(alice.client(api.storages.createKey, { id, ...key })).rejects.toThrow('read-only');
    await ship.daemon.close();
  });

  it('splits what is long into chunks of about 4 MiB', async () => {
    const server = await aServer();
    const container = await aContainer(app.ctx, alice, server.id);
    const text = 'x'.repeat(60_000);
    const ship = await print(server, container, [line('first')]);
    for (let n = 0; n < 160; n += 4) await ship.print(...[0, 1, 2, 3].map((more) => line(`${n + more} ${text}`)));
    await copied(container);
    const chunks = await app.ctx.db
      .selectFrom('log_chunk')
      .select(['first_seq', 'last_seq', 'lines'])
      .where('container_id', '=', container)
      .orderBy('first_seq')
      .execute();
    expect(Math.max(...chunks.map(({ lines }) => lines))).toBeLessThanOrEqual(72);
    expect(await recordsOf(server.storageId)).toEqual(await linesInPostgres(container));
    await ship.daemon.close();
  });

  it('keeps the logs of a container apart from those of an earlier one of the same name', async () => {
    const server = await aServer();
    const first = await aContainer(app.ctx, alice, server.id);
    const slug = await slugOf(first);
    let ship = await print(server, first, [line('first')]);
    await copied(first);
    await ship.daemon.close();
    await sql`update container set deleted_at = now() where id = ${first}`.execute(app.ctx.db);
    const second = await aContainer(app.ctx, alice, server.id);
    const sealed = app.ctx.secrets.seal('[]', `container|env|${slug}`);
    await sql`update container set slug = ${slug}, env_sealed = ${sealed} where id = ${second}`.execute(app.ctx.db);
    ship = await print(server, second, [line('second')]);
    await copied(second);
    const keys = [...(await objectsOf(app.ctx, server.storageId)).keys()];
    const folders = new Set(keys.map((key) => key.split('/')[0]));
    expect(folders).toEqual(new Set([slug, `${slug}.${second}`]));
    await ship.daemon.close();
  });

  it('gets the last lines of a terminated server, and is deleted 30 days later', async () => {
    const server = await aServer();
    const container = await aContainer(app.ctx, alice, server.id);
    const ship = await print(server, container, [line('one'), line('two')]);
    await copied(container);
    const offset = await ship.print(line('the last one'));
    ship.daemon.send({ type: 'log-gap', stream: 1, offset, from: null, to: null, reason: 'the end was lost' });
    await expect.poll(() => gapsOf(container)).toBe(1);
    await ship.daemon.close();
    await alice.client(api.instances.terminate, { id: server.id });
    await waitForStatus(alice, server.id, 'terminated');
    const finished = async () =>
      (
        await app.ctx.db
          .selectFrom('log_copy')
          .select('finished_at')
          .where('container_id', '=', container)
          .executeTakeFirst()
      )?.finished_at ?? null;
    await expect.poll(finished, WAIT).not.toBeNull();
    const records = await recordsOf(server.storageId);
    expect(records).toEqual([
      ...(await linesInPostgres(container)),
      { gap: { afterSeq: 3, from: null, to: null, reason: 'the end was lost' } },
    ]);
    expect((await viewInstance(alice, server.id)).logBucket).toMatchObject({ storageId: server.storageId });

    await sql`update instance set closed_at = now() - interval '29 days 23 hours' where id = ${server.id}`.execute(
      app.ctx.db,
    );
    await keepLogBuckets(app.ctx);
    expect(await statusOf(server.storageId)).toBe('rented');
    await sql`update instance set closed_at = now() - interval '30 days 1 minute' where id = ${server.id}`.execute(
      app.ctx.db,
    );
    await expect.poll(() => statusOf(server.storageId), WAIT).toBe('deleted');
    expect((await viewInstance(alice, server.id)).logBucket).toBeNull();
    expect(await objectsOf(app.ctx, server.storageId)).toEqual(new Map());
    expect((await linesInPostgres(container)).length).toBe(3);
  });

  it('shares the size of one bucket with those of other ended servers: the oldest chunks go first', async () => {
    const servers = [await aServer(), await aServer()];
    const sizes: number[] = [];
    for (const server of [...servers, ...servers]) {
      const container = await aContainer(app.ctx, alice, server.id);
      const ship = await print(server, container, [line(noise(4_000))]);
      await copied(container);
      await ship.daemon.close();
      sizes.push((await viewInstance(alice, server.id)).logBucket!.usedBytes);
    }
    const chunksOf = async (server: Server) => (await objectsOf(app.ctx, server.storageId)).size;
    await alice.client(api.instances.terminate, { id: servers[0]!.id });
    await waitForStatus(alice, servers[0]!.id, 'terminated');
    const shared = sizes[2]! + 1_000;
    await keepLogBuckets(app.ctx, shared);
    expect(await Promise.all(servers.map(chunksOf))).toEqual([2, 2]);
    await alice.client(api.instances.terminate, { id: servers[1]!.id });
    await waitForStatus(alice, servers[1]!.id, 'terminated');
    await keepLogBuckets(app.ctx, shared);
    expect(await Promise.all(servers.map(chunksOf))).toEqual([1, 1]);
  });

  it('goes at once when its server never ran', async () => {
    const { id } = await rentServer(alice);
    const { logBucket } = await viewInstance(alice, id);
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated');
    await expect.poll(() => statusOf(logBucket!.storageId), WAIT).toBe('deleted');
  });

  it('loses its oldest chunks when it is full', async () => {
    const server = await aServer();
    const container = await aContainer(app.ctx, alice, server.id);
    const ship = await print(server, container, [line(noise(4_000))]);
    await copied(container);
    const bucket = (await storageRow(server.storageId)).bucket_id!;
    const one = [...(await objectsOf(app.ctx, server.storageId)).values()][0]!.length;
    await sql`update s3_bucket set quota_bytes = ${Math.floor(one * 2.5)} where id = ${bucket}`.execute(app.ctx.db);
    for (let n = 2; n <= 5; n += 1) {
      await ship.print(line(noise(4_000)));
      await copied(container);
    }
    const seqs = (await recordsOf(server.storageId)).map((record) => ('seq' in record ? record.seq : null));
    expect(seqs).toEqual([4, 5]);
    const copy = await app.ctx.db
      .selectFrom('log_copy')
      .selectAll()
      .where('container_id', '=', container)
      .executeTakeFirst();
    expect(copy).toMatchObject({ removed_seq: 3n, removed_at: expect.any(Date) });
    expect(await linesInPostgres(container)).toHaveLength(5);
    await ship.daemon.close();
  });
});

async function gapsOf(container: number): Promise<number> {
  return (await app.ctx.db.selectFrom('log_gap').select('id').where('container_id', '=', container).execute()).length;
}

/** Text that does not get smaller. */
function noise(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(33 + Math.floor(Math.random() * 90))).join('');
}
