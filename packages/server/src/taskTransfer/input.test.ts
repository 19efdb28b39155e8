import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { api } from '@stagi/contract/api.ts';
import { TASK_INPUT_PATH, type TaskInputPage } from '@stagi/contract/taskTransfer.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { putObjects } from '../contentHost/testing/visitContent.ts';
import { openS3Key } from '../objects/keys.ts';
import { s3Client, s3Url } from '../objects/testing/bucket.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aStorage } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { anOpenRun, type TestRun, transferCall } from './testing/openRun.ts';

type Page = z.output<typeof TaskInputPage>;

let app: TestApp;
let alice: Person;
let storageId: number;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
  storageId = await aStorage(app.ctx, alice);
});

const inputRun = (place: string): Promise<TestRun> =>
  anOpenRun(app, alice, { storage_id: storageId, input_url_path: place });
const put = (...objects: { key: string; body: string }[]): Promise<void> => putObjects(app, alice, storageId, objects);
const pageOf = ({ token }: TestRun, after: string | null = null) =>
  transferCall<Page>(app, token, TASK_INPUT_PATH, { after });

/** All input files of a run, fetched by their links. */
async function fetched(run: TestRun): Promise<Record<string, string>> {
  const { status, body } = await pageOf(run);
  expect([status, body.next]).toEqual([200, null]);
  const files: Record<string, string> = {};
  for (const { path, url, sizeBytes } of body.files) {
    const answer = await fetch(url);
    const content = await answer.text();
    expect([answer.status, Buffer.byteLength(content)]).toEqual([200, sizeBytes]);
    files[path] = content;
  }
  return files;
}

describe('the input of a run', () => {
  it('is what lies below a prefix, by paths relative to it', async () => {
    await put(
      { key: 'data/a.txt', body: 'a' },
      { key: 'data/deep/er/b+c d%20.txt', body: 'b' },
      { key: 'data/имя 🙂', body: 'c' },
      { key: 'data/empty', body: '' },
      { key: 'data/folder/', body: '' },
      { key: 'data/', body: '' },
      { key: 'data2/other', body: 'other' },
      { key: 'database', body: 'other' },
    );
    expect(await fetched(await inputRun('data/'))).toEqual({
      'a.txt': 'a',
      'deep/er/b+c d%20.txt': 'b',
      'имя 🙂': 'c',
      empty: '',
    });
  });

  it('is one object, and no other whose key begins like it', async () => {
    await put({ key: 'data/a', body: 'one' }, { key: 'data/ab', body: 'sibling' }, { key: 'data/a/b', body: 'below' });
    expect(await fetched(await inputRun('data/a'))).toEqual({ a: 'one' });
  });

  it('is nothing when a folder is empty, and is refused where there is nothing', async () => {
    await put({ key: 'empty/', body: '' }, { key: 'data/ab', body: 'x' });
    expect(await fetched(await inputRun('empty/'))).toEqual({});
    for (const place of ['data/a', 'nothing/', 'data/ab/']) {
      const { status, body } = await pageOf(await inputRun(place));
      expect([status, body.message]).toEqual([422, `There is nothing at ${place} in its storage`]);
    }
  });

  it('comes by links to the address that machines reach', async () => {
    await put({ key: 'data/a', body: 'a' });
    const { body } = await pageOf(await inputRun('data/'));
    expect(body.files.map(({ url }) => new URL(url).origin)).toEqual([app.ctx.s3MachineOrigin]);
  });

  it('comes by pages, each file once, of 10,000', { timeout: 120_000 }, async () => {
    const names = await manyObjects(10_000);
    const run = await inputRun('many/');
    const paths: string[] = [];
    let pages = 0;
    for (let after: string | null = null, begun = false; after !== null || !begun; begun = true) {
      const { status, body } = await pageOf(run, after);
      expect(status).toBe(200);
      expect(body.files.length).toBeLessThanOrEqual(500);
      paths.push(...body.files.map(({ path }) => path));
      after = body.next;
      pages += 1;
    }
    expect(paths).toEqual(names.toSorted());
    console.log(`input by pages: n = ${paths.length} files, ${pages} pages`);
  });

  it('is refused, by name, when an object cannot be a file', async () => {
    const hostile = [
      'a//b',
      '/a',
      './a',
      'a/./b',
      '../a',
      'a/../b',
      'a/..',
      '.',
      '..',
      'x'.repeat(256),
      `${'я'.repeat(128)}`,
      `a/${'x'.repeat(256)}/b`,
      'marker/',
    ];
    let n = 0;
    for (const [index, name] of hostile.entries()) {
      const key = `hostile${index}/${name}`;
      await put({ key, body: 'x' });
      const { status, body } = await pageOf(await inputRun(`hostile${index}/`));
      expect.soft([status, body.message], key).toEqual([422, `This object cannot be a file: ${key}`]);
      n += 1;
    }
    // What is a file and the folder of another; keys come between the two.
    await put(
      { key: 'both/a', body: 'x' },
      { key: 'both/a!', body: 'x' },
      { key: 'both/a-b/c', body: 'x' },
      { key: 'both/a/b', body: 'x' },
    );
    const { status, body } = await pageOf(await inputRun('both/'));
    expect([status, body.message]).toEqual([422, 'This object cannot be a file: both/a']);
    // An object that is input alone and has such a name.
    for (const key of ['one/..', 'one/.', `one/${'x'.repeat(256)}`]) {
      await put({ key, body: 'x' });
      expect.soft((await pageOf(await inputRun(key))).status, key).toBe(422);
      n += 1;
    }
    console.log(`objects that cannot be files: n = ${n + 1}, 0 sent`);
  });

  it('is read at zero balance, and not once its storage is deleted', async () => {
    await put({ key: 'data/a', body: 'a' });
    const run = await inputRun('data/');
    await sql`update workspace set exhausted_at = now() where id = ${alice.workspaceId}`.execute(app.ctx.db);
    expect(await fetched(run)).toEqual({ a: 'a' });
    await sql`update storage set desired = 'gone' where id = ${storageId}`.execute(app.ctx.db);
    const { status, body } = await pageOf(run);
    expect([status, body.message]).toEqual([410, 'Its storage was deleted']);
  });
});

/** Objects of one shared blob: what they hold is not read. */
async function manyObjects(count: number): Promise<string[]> {
  await put({ key: 'many/0', body: 'x' });
  await sql`insert into s3_object (bucket_id, key, size, etag, headers, metadata, tags, blobs, blob_sizes)
    select bucket_id, ('many/' || n || '.txt')::bytea, size, etag, headers, metadata, tags, blobs, blob_sizes
    from s3_object, generate_series(1, ${count - 1}) as n
    where key = 'many/0' and bucket_id = (select bucket_id from storage where id = ${storageId})`.execute(app.ctx.db);
  return ['0', ...Array.from({ length: count - 1 }, (_, n) => `${n + 1}.txt`)];
}

describe('a key of one object', () => {
  it('opens neither what begins like it nor any listing', async () => {
    await put({ key: 'data/a', body: 'one' }, { key: 'data/ab', body: 'sibling' });
    const run = await inputRun('data/a');
    const row = await app.ctx.db
      .selectFrom('s3_key')
      .innerJoin('task_run', 'task_run.input_key_id', 's3_key.id')
      .select(['s3_key.id', 'access_key_id', 'secret_sealed'])
      .where('task_run.id', '=', run.runId)
      .executeTakeFirstOrThrow();
    const client = s3Client(s3Url(app), { id: row.id, ...openS3Key(app.ctx, row) });
    const Bucket = run.bucket;
    const got = await client.send(new GetObjectCommand({ Bucket, Key: 'data/a' }));
    expect(await got.Body!.transformToString()).toBe('one');
    const denied = { name: 'AccessDenied' };
    await expect(client.send(new GetObjectCommand({ Bucket, Key: 'data/ab' }))).rejects.toMatchObject(denied);
    for (const Prefix of ['data/a', 'data/', ''])
      await expect(client.send(new ListObjectsV2Command({ Bucket, Prefix }))).rejects.toMatchObject(denied);
    client.destroy();
  });

  it('is listed to nobody', async () => {
    const request = { id: storageId, entityFilterRequest: {} };
    await inputRun('data/a');
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from s3_key
      where purpose = 'task' and workspace_id = ${alice.workspaceId}`.execute(app.ctx.db);
    expect(rows).toEqual([{ count: 2 }]);
    expect((await alice.client(api.storages.keys, request)).entities).toEqual([]);
    expect((await alice.client(api.clients.members, {})).entities).toMatchObject([{ keysAndLinks: 0 }]);
  });
});
