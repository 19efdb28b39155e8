import { createHash, randomBytes } from 'node:crypto';
import { outputPrefix } from '@stagi/contract/taskRules.ts';
import {
  TASK_OUTPUT_BEGIN_PATH,
  TASK_OUTPUT_COMPLETE_PATH,
  TASK_OUTPUT_LINKS_PATH,
  TASK_OUTPUT_PARTS_PATH,
  type TaskOutputLinks,
  type TaskUpload,
  type TaskUploadParts,
} from '@stagi/contract/taskTransfer.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { inTransaction } from '../db/pool.ts';
import { limitConcurrency } from '../loops/concurrency.ts';
import { createUpload } from '../objects/uploads.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anOpenUpload } from '../testing/factories.ts';
import { waitForBlockedStatements } from '../testing/locks.ts';
import type { Person } from '../testing/person.ts';
import { abortRunUploads, revokeRunKeys } from './runKeys.ts';
import { anOpenRun, type TestRun, transferCall } from './testing/openRun.ts';

const MiB = 1024 * 1024;
/** The bytes that an upload counts for without its parts. */
const MIN_COUNTED = 8_192;
const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

let app: TestApp;
let alice: Person;
let run: TestRun;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
  run = await anOpenRun(app, alice);
});

const call = <T>(path: string, body: unknown) => transferCall<T>(app, run.token, path, body);
const links = (...files: { path: string; sizeBytes: number }[]) =>
  call<z.output<typeof TaskOutputLinks>>(TASK_OUTPUT_LINKS_PATH, { files });
const begin = (path: string, sizeBytes: number) =>
  call<z.output<typeof TaskUpload>>(TASK_OUTPUT_BEGIN_PATH, { path, sizeBytes });
const parts = (path: string, uploadId: string, ...partNumbers: number[]) =>
  call<z.output<typeof TaskUploadParts>>(TASK_OUTPUT_PARTS_PATH, { path, uploadId, partNumbers });
const complete = (path: string, uploadId: string) => call(TASK_OUTPUT_COMPLETE_PATH, { path, uploadId });

const put = (url: string, body: Buffer): Promise<Response> => fetch(url, { method: 'PUT', body: new Uint8Array(body) });

/** Sizes and hashes of the objects of the run's storage, by key. */
async function stored(): Promise<Record<string, string>> {
  const { rows } = await sql<{ key: Buffer; size: bigint; etag: string }>`select key, size, etag from s3_object
    where bucket_id = (select bucket_id from storage where id = ${run.storageId}) order by key`.execute(app.ctx.db);
  return Object.fromEntries(rows.map(({ key, size, etag }) => [key.toString(), `${size} ${etag}`]));
}

async function openUploads(): Promise<string[]> {
  const { rows } = await sql<{ key: Buffer }>`select key from s3_upload
    where bucket_id = (select bucket_id from storage where id = ${run.storageId}) order by key`.execute(app.ctx.db);
  return rows.map(({ key }) => key.toString());
}

const usedBytes = async (): Promise<number> => {
  const { rows } = await sql<{ used_bytes: bigint }>`select used_bytes from s3_bucket
    where id = (select bucket_id from storage where id = ${run.storageId})`.execute(app.ctx.db);
  return Number(rows[0]!.used_bytes);
};

describe('the output of a run', () => {
  it('is put file by file into the folder of its task', async () => {
    const files: Record<string, Buffer> = {
      'model.bin': randomBytes(3 * MiB),
      'deep/er/имя 🙂 +%20.txt': Buffer.from('text'),
      'a\\b"c<d': Buffer.from('odd'),
      empty: Buffer.alloc(0),
    };
    const { status, body } = await links(
      ...Object.entries(files).map(([path, { length }]) => ({ path, sizeBytes: length })),
    );
    expect([status, body.links.map(({ path }) => path)]).toEqual([200, Object.keys(files)]);
    for (const { path, url } of body.links) {
      expect(new URL(url).origin).toBe(app.ctx.s3MachineOrigin);
      expect((await put(url, files[path]!)).status, path).toBe(200);
    }
    const expected = Object.entries(files).map(([path, content]) => [
      `tasks/${run.taskId}/output/${path}`,
      `${content.length} ${md5(content)}`,
    ]);
    expect(await stored()).toEqual(Object.fromEntries(expected));
    // A retry writes the same files anew.
    const again = await links({ path: 'empty', sizeBytes: 3 });
    expect((await put(again.body.links[0]!.url, Buffer.from('new'))).status).toBe(200);
    expect((await stored())[`tasks/${run.taskId}/output/empty`]).toBe(`3 ${md5(Buffer.from('new'))}`);
  });

  it('is put in parts when a file is large', async () => {
    const content = randomBytes(20 * MiB);
    const begun = await begin('deep/large', content.length);
    expect(begun.status).toBe(200);
    const { uploadId, partBytes } = begun.body;
    const count = Math.ceil(content.length / partBytes);
    expect(count).toBeGreaterThan(1);
    const asked = await parts('deep/large', uploadId, ...Array.from({ length: count }, (_, n) => n + 1));
    for (const { partNumber, url } of asked.body.links.toReversed()) {
      const part = content.subarray((partNumber - 1) * partBytes, partNumber * partBytes);
      expect((await put(url, part)).status).toBe(200);
    }
    expect(await complete('deep/large', uploadId)).toEqual({ status: 200, body: {} });
    const found = await stored();
    expect(Object.keys(found)).toEqual([`tasks/${run.taskId}/output/deep/large`]);
    expect(Object.values(found)[0]).toMatch(new RegExp(`^${content.length} [0-9a-f]{32}-${count}$`));
    // After a lost answer.
    expect((await complete('deep/large', uploadId)).status).toBe(200);
    expect(await openUploads()).toEqual([]);
  });

  it('is not completed while a part is missing, and begins again after that', async () => {
    const first = await begin('large', 20 * MiB);
    const { uploadId } = first.body;
    expect((await complete('large', uploadId)).status).toBe(409);
    const { body } = await parts('large', uploadId, 2);
    expect((await put(body.links[0]!.url, randomBytes(MiB))).status).toBe(200);
    expect((await complete('large', uploadId)).status).toBe(409);
    // With the upload itself.
    expect(await usedBytes()).toBe(MIN_COUNTED + MiB);
    const second = await begin('large', 20 * MiB);
    expect(second.status).toBe(200);
    expect(await openUploads()).toEqual([`tasks/${run.taskId}/output/large`]);
    expect(await usedBytes()).toBe(MIN_COUNTED);
    // The links of the first have ended with it.
    expect((await put(body.links[0]!.url, randomBytes(MiB))).status).toBe(404);
    expect((await parts('large', uploadId, 1)).status).toBe(409);
    expect((await complete('large', uploadId)).status).toBe(409);
    expect(await stored()).toEqual({});
  });

  it('is refused for what is no path below its folder', async () => {
    const hostile = [
      '../evil',
      'a/../../evil',
      '..',
      '.',
      './a',
      'a/.',
      '/etc/passwd',
      'a//b',
      'a/',
      '/',
      'a\0b',
      '\ud800',
      'x'.repeat(256),
      'я'.repeat(128),
      Array.from({ length: 8 }, () => 'x'.repeat(126)).join('/'),
    ];
    for (const path of hostile) {
      const shown = JSON.stringify(path).slice(0, 60);
      expect.soft((await links({ path, sizeBytes: 1 })).status, `link ${shown}`).toBe(422);
      expect.soft((await links({ path: 'fine', sizeBytes: 1 }, { path, sizeBytes: 1 })).status).toBe(422);
      expect.soft((await begin(path, 1)).status, `begin ${shown}`).toBe(422);
      expect.soft((await parts(path, crypto.randomUUID(), 1)).status, `parts ${shown}`).toBe(422);
      expect.soft((await complete(path, crypto.randomUUID())).status, `complete ${shown}`).toBe(422);
    }
    for (const body of [null, [], { files: [] }, { files: [{ path: 'a', sizeBytes: -1 }] }, { files: [{}] }])
      expect.soft((await call(TASK_OUTPUT_LINKS_PATH, body)).status, JSON.stringify(body)).toBe(422);
    expect.soft((await begin('huge', 6 * 1024 ** 4)).status).toBe(422);
    expect.soft((await links({ path: 'large', sizeBytes: 65 * MiB })).status).toBe(422);
    console.log(`hostile output paths: n = ${hostile.length * 5}, 0 accepted`);
    expect([await stored(), await openUploads()]).toEqual([{}, []]);
  });

  it('waits while its storage is full or read-only, and ends with its storage', async () => {
    const FULL = 'The storage is full: make it larger or delete objects';
    const { body } = await links({ path: 'a', sizeBytes: MiB });
    const bucket = sql`(select bucket_id from storage where id = ${run.storageId})`;
    await sql`update s3_bucket set used_bytes = quota_bytes - 100 where id = ${bucket}`.execute(app.ctx.db);
    expect(await links({ path: 'a', sizeBytes: 101 })).toMatchObject({ status: 409, body: { message: FULL } });
    expect(await begin('a', 101)).toMatchObject({ status: 409, body: { message: FULL } });
    expect((await links({ path: 'a', sizeBytes: 100 })).status).toBe(200);
    // What was asked for before is found at the store.
    expect((await put(body.links[0]!.url, randomBytes(MiB))).status).toBe(403);
    await sql`update s3_bucket set used_bytes = 0 where id = ${bucket}`.execute(app.ctx.db);
    expect((await put(body.links[0]!.url, randomBytes(MiB))).status).toBe(200);

    const exhaust = (at: 'now()' | 'null') =>
      sql`update workspace set exhausted_at = ${sql.raw(at)} where id = ${alice.workspaceId}`.execute(app.ctx.db);
    await exhaust('now()');
    const zero = { status: 409, body: { message: 'Zero balance: this storage is read-only until a deposit' } };
    expect(await links({ path: 'a', sizeBytes: 1 })).toMatchObject(zero);
    expect(await begin('a', 1)).toMatchObject(zero);
    await exhaust('null');
    expect((await links({ path: 'a', sizeBytes: 1 })).status).toBe(200);

    await sql`update storage set desired = 'gone' where id = ${run.storageId}`.execute(app.ctx.db);
    const gone = { status: 410, body: { message: 'Its storage was deleted' } };
    expect(await links({ path: 'a', sizeBytes: 1 })).toMatchObject(gone);
    expect(await begin('a', 1)).toMatchObject(gone);
  });

  it('leaves no open upload when the run ends, and none begun while it ends', async () => {
    for (const path of ['one', 'deep/two']) {
      const { body } = await begin(path, 20 * MiB);
      const { body: asked } = await parts(path, body.uploadId, 1);
      expect((await put(asked.links[0]!.url, randomBytes(MiB))).status).toBe(200);
    }
    // Of others: a person's, and one of a task whose number begins like this one's.
    await anOpenUpload(app.ctx, run.storageId);
    await sql`with made as (insert into s3_upload (id, bucket_id, key) select gen_random_uuid(), bucket_id,
        ${Buffer.from(`${outputPrefix(run.taskId * 10 + 1)}x`)} from storage where id = ${run.storageId}
        returning bucket_id, counted)
      update s3_bucket set used_bytes = used_bytes + counted from made where id = bucket_id`.execute(app.ctx.db);
    expect((await openUploads()).length).toBe(4);
    const end = () =>
      inTransaction(app.ctx.db, async (trx) => {
        await trx.updateTable('task_run').set({ ended_at: new Date() }).where('id', '=', run.runId).execute();
        await abortRunUploads(trx, run.runId);
        await revokeRunKeys(trx, run.runId);
      });
    // One is begun and not committed yet, another waits behind the end.
    let [ended, late]: [Promise<void>, ReturnType<typeof begin>] | [null, null] = [null, null];
    await inTransaction(app.ctx.db, async (trx) => {
      const { bucket_id } = await trx
        .selectFrom('storage')
        .select('bucket_id')
        .where('id', '=', run.storageId)
        .executeTakeFirstOrThrow();
      const upload = { headers: {}, metadata: {}, tags: {}, checksum: null };
      await createUpload(trx, bucket_id!, `${outputPrefix(run.taskId)}begun`, upload);
      const ending = end();
      await Promise.race([waitForBlockedStatements(app.ctx.db), ending]);
      [ended, late] = [ending, begin('late', MiB)];
      await Promise.race([waitForBlockedStatements(app.ctx.db, 2), late]);
    });
    await ended;
    expect([409, 410]).toContain((await late!).status);
    expect(await openUploads()).toEqual(['k', `${outputPrefix(run.taskId * 10 + 1)}x`]);
    expect(await usedBytes()).toBe(2 * MIN_COUNTED);
    const { rows } =
      await sql`select from s3_key where purpose = 'task' and workspace_id = ${alice.workspaceId}`.execute(app.ctx.db);
    expect(rows).toEqual([]);
    // Twice does nothing.
    await revokeRunKeys(app.ctx.db, run.runId);
    await abortRunUploads(app.ctx.db, run.runId);
  });

  it('is limited in its requests, with the time to wait', async () => {
    // A busy machine resets some of 1,250 connections at once.
    const turns = limitConcurrency(100);
    const answers = await Promise.all(Array.from({ length: 1_250 }, () => turns(() => links())));
    const refused = answers.filter(({ status }) => status === 429).length;
    console.log(`requests of one run within a minute: n = ${answers.length}, ${refused} refused`);
    expect(refused).toBe(50);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([422, 429]));
    // Others go on.
    run = await anOpenRun(app, alice);
    expect((await links({ path: 'a', sizeBytes: 1 })).status).toBe(200);
  });
});
