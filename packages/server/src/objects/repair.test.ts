import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPool } from '../db/pool.ts';
import { approveRemoval } from '../quarantine/review.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { createTestDatabase } from '../testing/database.ts';
import type { Person } from '../testing/person.ts';
import { blobName } from './blobs.ts';
import { repairObjects } from './repair.ts';
import { aBucket, aKey, blobsOf, counted, heldBody, s3Client, s3Url, useOf } from './testing/bucket.ts';
import { spawnS3Role } from './testing/s3Role.ts';

let app: TestApp;
let alice: Person;
let metricsPort: number;
beforeAll(async () => {
  metricsPort = await freePort();
  app = await startTestApp({ METRICS_PORT: String(metricsPort) });
  alice = await app.signUp('Alice');
});
afterAll(() => app.close());

async function opened(url = s3Url(app)) {
  const bucket = await aBucket(app, alice);
  const client = s3Client(url, await aKey(app, alice, bucket));
  const put = (Key: string, Body: Uint8Array) => client.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body }));
  return { bucket, client, put };
}

const local = () => app.ctx.blobs.get('local')!;
const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
};
const blobIds = async (bucketId: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`select id from s3_blob where bucket_id = ${bucketId}`.execute(app.ctx.db);
  return rows.map(({ id }) => id);
};

it('removes what a killed process was writing, once another one starts', async () => {
  const apart = await spawnS3Role(app);
  try {
    const { bucket, client, put } = await opened(apart.url);
    await put('kept', Buffer.from('kept'));
    const held = heldBody([randomBytes(3_000_000), randomBytes(1)]);
    const upload = client.send(
      new PutObjectCommand({
        Bucket: bucket.name,
        Key: 'kept',
        Body: Readable.from(held.body, { objectMode: false }),
        ContentLength: held.length,
      }),
    );
    const failed = expect(upload).rejects.toThrow();
    held.release();
    await expect.poll(() => blobsOf(app, bucket)).toEqual({ stored: 1, writing: 1 });
    const unfinished = join(app.dataDir, 's3/.unfinished');
    await expect
      .poll(() => readdirSync(unfinished).some((owner) => owner.split('-')[1] === String(apart.pid())))
      .toBe(true);
    const killed = String(apart.pid());
    await apart.kill('SIGKILL');
    await failed;
    // This process lives and looks after its own writes only.
    expect(await blobsOf(app, bucket)).toEqual({ stored: 1, writing: 1 });

    await apart.start();
    await expect.poll(() => blobsOf(app, bucket)).toEqual({ stored: 1 });
    expect(readdirSync(unfinished).filter((owner) => owner.split('-')[1] === killed)).toEqual([]);
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket.name, Key: 'kept' }));
    expect((await buffer(Body as Readable)).toString()).toBe('kept');
    expect(await useOf(app, bucket)).toEqual({ bytes: counted(4), objects: 1 });
  } finally {
    await apart.kill('SIGTERM');
  }
});

it('leaves the writes of living processes alone', async () => {
  const { bucket, client } = await opened();
  const held = heldBody([randomBytes(100_000), randomBytes(100_000)]);
  const upload = client.send(
    new PutObjectCommand({
      Bucket: bucket.name,
      Key: 'slow',
      Body: Readable.from(held.body, { objectMode: false }),
      ContentLength: held.length,
    }),
  );
  held.release();
  await expect.poll(() => blobsOf(app, bucket)).toEqual({ writing: 1 });
  await repairObjects(app.ctx);
  held.release();
  await upload;
  expect(await useOf(app, bucket)).toEqual({ bytes: counted(200_000, 'slow'), objects: 1 });
});

const place = 'objects/local';
const putAll = async (names: readonly string[]) => {
  for (const name of names) await local().put(name, Readable.from([Buffer.from('loose')]));
};
const stillThere = async (names: readonly string[]) => {
  const found = await Promise.all(names.map((name) => local().head(name)));
  return found.filter((one) => one !== null).length;
};
const noted = async () =>
  (await app.ctx.db.selectFrom('unknown_bytes').select('name').execute()).map(({ name }) => name);
const unknownMetrics = async () => [
  await metric(`stagi_unknown_bytes\\{place="${place}"\\}`),
  await metric(`stagi_unknown_bytes_alarm\\{place="${place}"\\}`),
];
const ageNoted = () => sql`update unknown_bytes set found_at = now() - interval '8 days'`.execute(app.ctx.db);

it('notes bytes without a row at once, and removes them after seven days', async () => {
  const { bucket } = await opened();
  const ids = Array.from({ length: 200 }, () => randomUUID());
  await sql`insert into s3_blob (id, bucket_id, location, state)
    select unnest(${ids}::uuid[]), ${bucket.id}, 'local', 'stored'`.execute(app.ctx.db);
  const kept = ids.map(blobName);
  await putAll(kept);
  const loose = [blobName(randomUUID()), `${blobName('')}not-an-id`];
  await putAll(loose);
  await repairObjects(app.ctx);
  expect([(await noted()).toSorted(), await stillThere(loose)]).toEqual([loose.toSorted(), 2]);
  expect(await unknownMetrics()).toEqual([2, 0]);
  await ageNoted();
  await repairObjects(app.ctx);
  expect([await noted(), await stillThere(loose), await stillThere(kept)]).toEqual([[], 0, 200]);
  await sql`delete from s3_blob where bucket_id = ${bucket.id}`.execute(app.ctx.db);
  for (const name of kept) await local().remove(name);
});

it('keeps many bytes without a row until an operator approves their removal', async () => {
  const loose = Array.from({ length: 101 }, () => blobName(randomUUID()));
  await putAll(loose);
  await repairObjects(app.ctx);
  await ageNoted();
  await repairObjects(app.ctx);
  expect([await stillThere(loose), await unknownMetrics()]).toEqual([101, [101, 1]]);
  await approveRemoval(app.ctx.db, place);
  await repairObjects(app.ctx);
  expect([await stillThere(loose), await unknownMetrics()]).toEqual([0, [0, 0]]);
});

it('loses nothing to another database, and has nothing to bring back with the right one', async () => {
  const { bucket, client, put } = await opened();
  await put('kept', Buffer.from('kept'));
  const [kept] = await blobIds(bucket.id);
  const database = await createTestDatabase();
  const wrong = openPool(database.url, { max: 2 });
  try {
    for (const _ of [1, 2]) {
      await repairObjects({ ...app.ctx, db: wrong.db });
      expect(await stillThere([blobName(kept!)])).toBe(1);
      expect((await unknownMetrics())[1]).toBe(1);
      await sql`update unknown_bytes set found_at = now() - interval '30 days'`.execute(wrong.db);
    }
  } finally {
    await wrong.close();
    await database.drop();
  }
  await repairObjects(app.ctx);
  expect([await noted(), await unknownMetrics()]).toEqual([[], [0, 0]]);
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket.name, Key: 'kept' }));
  expect((await buffer(Body as Readable)).toString()).toBe('kept');
});

it('notes nothing in the store of another installation', async () => {
  const loose = [blobName(randomUUID())];
  await putAll(loose);
  await repairObjects({ ...app.ctx, installationId: randomUUID() });
  expect(await noted()).toEqual([]);
  await repairObjects(app.ctx);
  expect(await noted()).toEqual(loose);
  for (const name of loose) await local().remove(name);
});

it('reports missing bytes in the log and the metrics, and removes nothing of the object', async () => {
  const { bucket, client, put } = await opened();
  await put('lost', randomBytes(10));
  const [lost] = await blobIds(bucket.id);
  rmSync(join(app.dataDir, 's3/objects', `_${lost!.slice(0, 3)}`, lost!));
  await repairObjects(app.ctx);
  expect(await metric('stagi_s3_blobs_missing')).toBe(1);
  expect(await useOf(app, bucket)).toEqual({ bytes: counted(10), objects: 1 });
  await expect(client.send(new GetObjectCommand({ Bucket: bucket.name, Key: 'lost' }))).rejects.toMatchObject({
    $metadata: { httpStatusCode: 500 },
  });
  // Once it is brought back, everything is as before.
  await local().put(blobName(lost!), Readable.from([Buffer.from('0123456789')]));
  await repairObjects(app.ctx);
  expect(await metric('stagi_s3_blobs_missing')).toBe(0);
});

it('corrects a wrong use and says so', async () => {
  const { bucket, put } = await opened();
  await put('a', randomBytes(10));
  const before = await metric('stagi_s3_use_corrected_total');
  await repairObjects(app.ctx);
  expect(await metric('stagi_s3_use_corrected_total')).toBe(before);
  await sql`update s3_bucket set used_bytes = 7, object_count = 3 where id = ${bucket.id}`.execute(app.ctx.db);
  await repairObjects(app.ctx);
  expect(await useOf(app, bucket)).toEqual({ bytes: counted(10), objects: 1 });
  expect(await metric('stagi_s3_use_corrected_total')).toBe(before + 1);
});

it('counts requests and bytes', async () => {
  const { put } = await opened();
  const received = await metric('stagi_s3_bytes_total{direction="received"}'.replace(/[{}]/g, '\\$&'));
  await put('counted', randomBytes(123_456));
  await expect
    .poll(() => metric('stagi_s3_bytes_total{direction="received"}'.replace(/[{}]/g, '\\$&')))
    .toBeGreaterThanOrEqual((received || 0) + 123_456);
});
