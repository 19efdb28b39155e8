import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { line } from '../logging/testing/shipped.ts';
import { type CloudApp, rentServer, startCloudApp, viewInstance, waitForStatus } from '../testing/cloudApp.ts';
import { aContainer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { keepLogBuckets } from './keep.ts';
import {
  aLoggedServer,
  type LoggedServer,
  linesInPostgres,
  noise,
  printRecords,
  slugOfContainer,
  statusOfStorage,
  WAIT,
  waitForCopy,
} from './testing/loggedServer.ts';
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

const storageRow = (id: number) =>
  app.ctx.db.selectFrom('storage').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

const recordsOf = async (storageId: number) => zstdcat((await objectsOf(app.ctx, storageId)).values());

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

  it('splits what is long into chunks of about 4 MiB', async () => {
    const server = await aLoggedServer(app, alice);
    const container = await aContainer(app.ctx, alice, server.id);
    const text = 'x'.repeat(60_000);
    const ship = await printRecords(app, server, container, [line('first')]);
    for (let n = 0; n < 160; n += 4) await ship.print(...[0, 1, 2, 3].map((more) => line(`${n + more} ${text}`)));
    await waitForCopy(app, container);
    const chunks = await app.ctx.db
      .selectFrom('log_chunk')
      .select(['first_seq', 'last_seq', 'lines'])
      .where('container_id', '=', container)
      .orderBy('first_seq')
      .execute();
    expect(Math.max(...chunks.map(({ lines }) => lines))).toBeLessThanOrEqual(72);
    expect(await recordsOf(server.storageId)).toEqual(await linesInPostgres(alice, container));
    await ship.daemon.close();
  });

  it('keeps the logs of a container apart from those of an earlier one of the same name', async () => {
    const server = await aLoggedServer(app, alice);
    const first = await aContainer(app.ctx, alice, server.id);
    const slug = await slugOfContainer(alice, first);
    let ship = await printRecords(app, server, first, [line('first')]);
    await waitForCopy(app, first);
    await ship.daemon.close();
    await sql`update container set deleted_at = now() where id = ${first}`.execute(app.ctx.db);
    const second = await aContainer(app.ctx, alice, server.id);
    const sealed = app.ctx.secrets.seal('[]', `container|env|${slug}`);
    await sql`update container set slug = ${slug}, env_sealed = ${sealed} where id = ${second}`.execute(app.ctx.db);
    ship = await printRecords(app, server, second, [line('second')]);
    await waitForCopy(app, second);
    const keys = [...(await objectsOf(app.ctx, server.storageId)).keys()];
    const folders = new Set(keys.map((key) => key.split('/')[0]));
    expect(folders).toEqual(new Set([slug, `${slug}.${second}`]));
    await ship.daemon.close();
  });

  it('gets the last lines of a terminated server, and is deleted 30 days later', async () => {
    const server = await aLoggedServer(app, alice);
    const container = await aContainer(app.ctx, alice, server.id);
    const ship = await printRecords(app, server, container, [line('one'), line('two')]);
    await waitForCopy(app, container);
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
      ...(await linesInPostgres(alice, container)),
      { gap: { afterSeq: 3, from: null, to: null, reason: 'the end was lost' } },
    ]);
    expect((await viewInstance(alice, server.id)).logBucket).toMatchObject({ storageId: server.storageId });

    await sql`update instance set closed_at = now() - interval '29 days 23 hours' where id = ${server.id}`.execute(
      app.ctx.db,
    );
    await keepLogBuckets(app.ctx);
    expect(await statusOfStorage(alice, server.storageId)).toBe('rented');
    await sql`update instance set closed_at = now() - interval '30 days 1 minute' where id = ${server.id}`.execute(
      app.ctx.db,
    );
    await expect.poll(() => statusOfStorage(alice, server.storageId), WAIT).toBe('deleted');
    expect((await viewInstance(alice, server.id)).logBucket).toBeNull();
    expect(await objectsOf(app.ctx, server.storageId)).toEqual(new Map());
    expect((await linesInPostgres(alice, container)).length).toBe(3);
  });

  it('goes at once when its server never ran', async () => {
    const { id } = await rentServer(alice);
    const { logBucket } = await viewInstance(alice, id);
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated');
    await expect.poll(() => statusOfStorage(alice, logBucket!.storageId), WAIT).toBe('deleted');
  });

  it('loses its oldest chunks when it is full', async () => {
    const server = await aLoggedServer(app, alice);
    const container = await aContainer(app.ctx, alice, server.id);
    const ship = await printRecords(app, server, container, [line(noise(4_000))]);
    await waitForCopy(app, container);
    const bucket = (await storageRow(server.storageId)).bucket_id!;
    const one = [...(await objectsOf(app.ctx, server.storageId)).values()][0]!.length;
    await sql`update s3_bucket set quota_bytes = ${Math.floor(one * 2.5)} where id = ${bucket}`.execute(app.ctx.db);
    for (let n = 2; n <= 5; n += 1) {
      await ship.print(line(noise(4_000)));
      await waitForCopy(app, container);
    }
    const seqs = (await recordsOf(server.storageId)).map((record) => ('seq' in record ? record.seq : null));
    expect(seqs).toEqual([4, 5]);
    const copy = await app.ctx.db
      .selectFrom('log_copy')
      .selectAll()
      .where('container_id', '=', container)
      .executeTakeFirst();
    expect(copy).toMatchObject({ removed_seq: 3n, removed_at: expect.any(Date) });
    expect(await linesInPostgres(alice, container)).toHaveLength(5);
    await ship.daemon.close();
  });

  it('shares the size of one bucket with those of other ended servers: the oldest chunks go first', async () => {
    const servers = [await aLoggedServer(app, alice), await aLoggedServer(app, alice)];
    const sizes: number[] = [];
    for (const server of [...servers, ...servers]) {
      const container = await aContainer(app.ctx, alice, server.id);
      const ship = await printRecords(app, server, container, [line(noise(4_000))]);
      await waitForCopy(app, container);
      await ship.daemon.close();
      sizes.push((await viewInstance(alice, server.id)).logBucket!.usedBytes);
    }
    const chunksOf = async (server: LoggedServer) => (await objectsOf(app.ctx, server.storageId)).size;
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
});

async function gapsOf(container: number): Promise<number> {
  return (await app.ctx.db.selectFrom('log_gap').select('id').where('container_id', '=', container).execute()).length;
}
