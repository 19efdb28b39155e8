import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  TASK_OUTPUT_BEGIN_PATH,
  TASK_OUTPUT_COMPLETE_PATH,
  TASK_OUTPUT_LINKS_PATH,
  TASK_OUTPUT_PARTS_PATH,
} from '@stagi/contract/taskTransfer.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putObjects } from '../contentHost/testing/visitContent.ts';
import { inTransaction } from '../db/pool.ts';
import { CUT_WITHIN_MS, readUntilCut } from '../objects/testing/slowDownload.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { abortRunUploads, revokeRunKeys } from './runKeys.ts';
import {
  anOpenRun,
  aProjectWith,
  askSource,
  inputOf,
  openSource,
  openUpload,
  outputLink,
  partLink,
  type TestRun,
  transferCall,
} from './testing/openRun.ts';

const MiB = 1024 * 1024;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
});
afterAll(() => app?.close());

const ENDS: Record<string, (run: TestRun, owner: Person) => Promise<unknown>> = {
  'the end of the run': ({ runId }) =>
    inTransaction(app.ctx.db, async (trx) => {
      await trx.updateTable('task_run').set({ ended_at: new Date() }).where('id', '=', runId).execute();
      await abortRunUploads(trx, runId);
      await revokeRunKeys(trx, runId);
    }),
  'the end of the run alone': ({ runId }) =>
    app.ctx.db.updateTable('task_run').set({ ended_at: new Date() }).where('id', '=', runId).execute(),
  'the removal of its container': ({ containerId }) =>
    app.ctx.db.updateTable('container').set({ desired: 'absent' }).where('id', '=', containerId).execute(),
  'the deletion of its container': ({ containerId }) =>
    app.ctx.db.updateTable('container').set({ deleted_at: new Date() }).where('id', '=', containerId).execute(),
  'the disabling of its workspace': (_, { workspaceId }) =>
    sql`update workspace set disabled_at = now() where id = ${workspaceId}`.execute(app.ctx.db),
};

describe('token, links and transfers of a run end with', () => {
  it.each(Object.entries(ENDS))('%s, within 2 s', { timeout: 30_000 }, async (_what, end) => {
    const owner = await app.signUp();
    const project = await aProjectWith(app, owner, [{ message: 'one', files: { f: 'f' } }]);
    const run = await anOpenRun(app, owner, { project_id: project.id, commit_sha: project.shas[0]! });
    await putObjects(app, owner, run.storageId, [
      { key: 'data/large', body: randomBytes(64 * MiB) },
      { key: 'data/small', body: 'x' },
    ]);
    const { files } = (await inputOf(app, run.token)).body;
    const [large, small] = files.map(({ url }) => url);
    const write = await outputLink(app, run, 'f');
    const part = await partLink(app, run, 'large', await openUpload(app, run, 'large'));
    expect((await fetch(small!)).status).toBe(200);
    expect((await askSource(app, run.token)).status).toBe(200);
    const download = Readable.fromWeb((await fetch(large!)).body! as ReadableStream<Uint8Array>);
    await once(download, 'readable');

    const ended = Date.now();
    await end(run, owner);
    expect((await fetch(small!)).status).toBe(403);
    for (const link of [write, part]) expect((await fetch(link, { method: 'PUT', body: 'late' })).status).toBe(403);
    expect((await askSource(app, run.token)).status).toBe(410);
    expect(await inputOf(app, run.token)).toMatchObject({ status: 410, body: { message: 'This run has ended' } });
    const uploadId = crypto.randomUUID();
    for (const [path, asked] of [
      [TASK_OUTPUT_LINKS_PATH, { files: [{ path: 'f', sizeBytes: 1 }] }],
      [TASK_OUTPUT_BEGIN_PATH, { path: 'f', sizeBytes: 1 }],
      [TASK_OUTPUT_PARTS_PATH, { path: 'f', uploadId, partNumbers: [1] }],
      [TASK_OUTPUT_COMPLETE_PATH, { path: 'f', uploadId }],
    ] as const)
      expect((await transferCall(app, run.token, path, asked)).status, path).toBe(410);
    const ms = (await readUntilCut(download)) - ended;
    console.log(`download of a run cut after ${ms} ms (n = 1)`);
    expect(ms).toBeLessThan(CUT_WITHIN_MS);
  });
});

describe('a source under way is cut within 2 s of', () => {
  // One repository for all: what disables the workspace comes last.
  let owner: Person;
  let project: Awaited<ReturnType<typeof aProjectWith>>;
  beforeAll(async () => {
    owner = await app.signUp();
    project = await aProjectWith(app, owner, [{ message: 'large', files: { large: randomBytes(64 * MiB) } }]);
  });

  it.each(Object.entries(ENDS))('%s', { timeout: 30_000 }, async (_what, end) => {
    const run = await anOpenRun(app, owner, { project_id: project.id, commit_sha: project.shas[0]! });
    const source = await openSource(app, run.token);
    expect(source.statusCode).toBe(200);
    await once(source, 'readable');

    const ended = Date.now();
    await end(run, owner);
    const ms = (await readUntilCut(source)) - ended;
    console.log(`source of a run cut after ${ms} ms (n = 1)`);
    expect(source.complete).toBe(false);
    expect(ms).toBeLessThan(CUT_WITHIN_MS);
    expect((await askSource(app, run.token)).status).toBe(410);
  });
});
