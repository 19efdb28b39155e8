import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { putObjects, visitContent } from '../contentHost/testing/visitContent.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { aTaskPlace, type TaskPlace } from './testing/taskPlace.ts';

let app: TestApp;
let alice: Person;
let place: TaskPlace;
let id: number;
let token: string;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
  alice = await app.signUp('Alice');
  place = await aTaskPlace(app, alice);
  id = (await place.create(alice)).id;
  token = (await anApiToken(app.ctx, alice, { permissions: ['RUNNING_TASKS'] })).token;
  await putObjects(app, alice, place.storage, [
    { key: `tasks/${id}/output/a.txt`, body: 'first', type: 'text/html' },
    { key: `tasks/${id}/output/deep/b.bin`, body: 'second' },
    { key: `tasks/${id}/output/deep/er/c`, body: 'third' },
    // Of others: a task whose number begins alike, and what is no output.
    { key: `tasks/${id}1/output/foreign`, body: 'foreign' },
    { key: `tasks/${id}/other`, body: 'foreign' },
  ]);
});
afterAll(() => app?.close());

const ask = async (path: string, body: object) => {
  const answer = await app.post(path, body, { authorization: `Bearer ${token}` });
  return { status: answer.status, body: answer.body as Record<string, unknown> & { link: string } };
};
const list = (more: object = {}) => ask('task/output/list', { id, ...more });

describe('the output of a task, by a token that may only run tasks', () => {
  it('is listed level by level and page by page, relative to its directory', async () => {
    expect((await list()).body).toMatchObject({
      folders: ['deep/'],
      objects: [{ key: 'a.txt', sizeBytes: 5 }],
      next: null,
    });
    expect((await list({ prefix: 'deep/' })).body).toMatchObject({
      folders: ['deep/er/'],
      objects: [{ key: 'deep/b.bin' }],
    });
    const first = await list({ limit: 1 });
    expect(first.body).toMatchObject({ objects: [{ key: 'a.txt' }], folders: [], next: 'a.txt' });
    expect((await list({ limit: 1, after: first.body.next })).body).toMatchObject({ objects: [], folders: ['deep/'] });
    for (const prefix of ['../', '../../', '/', `../../${id}1/output/`])
      expect.soft((await list({ prefix })).body, prefix).toMatchObject({ folders: [], objects: [] });
  });

  it('is downloaded, and looked at, by links', async () => {
    const download = await ask('task/output/download-link', { id, key: 'a.txt' });
    const answer = await fetch(download.body.link);
    expect(answer.headers.get('content-disposition')).toContain('attachment; filename="a.txt"');
    expect(await answer.text()).toBe('first');
    const inline = await fetch((await ask('task/output/download-link', { id, key: 'a.txt', inline: true })).body.link);
    expect(inline.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const preview = await ask('task/output/preview-link', { id, key: 'deep/b.bin' });
    expect((await visitContent(app, preview.body.link)).body.toString()).toBe('second');
    expect(await ask('task/output/preview-link', { id, key: 'nothing' })).toMatchObject({
      status: 200,
      body: { isSuccess: false, message: 'This object no longer exists' },
    });
  });

  it('is signed by a key that reads what tasks have put out, and nothing else', async () => {
    await ask('task/output/download-link', { id, key: 'a.txt' });
    const keys = await app.ctx.db
      .selectFrom('s3_key')
      .select(['mode', 'prefix'])
      .where('purpose', '=', 'browser')
      .where('made_by', '=', alice.userId)
      .execute();
    expect(keys).toEqual([{ mode: 'read-only', prefix: 'tasks/' }]);
  });

  it('is out of reach once its reader may no longer run tasks', async () => {
    const dora = await app.signUp('Dora');
    await aMember(app, dora, alice.workspaceId, 'Developer');
    dora.useWorkspace(alice.workspaceId);
    const { link } = await dora.client(api.tasks.outputLink, { id, key: 'a.txt' });
    expect((await fetch(link)).status).toBe(200);
    await app.ctx.db
      .updateTable('membership')
      .set({ role: 'Guest' })
      .where('user_id', '=', dora.userId)
      .where('workspace_id', '=', alice.workspaceId)
      .execute();
    // A request that began before the S3 service heard of it is cut instead of refused.
    const fetched = () =>
      fetch(link).then(
        ({ status }) => status,
        () => 'cut',
      );
    expect([403, 'cut']).toContain(await fetched());
    await expect.poll(fetched).toBe(403);
  });

  it('says so when its storage is gone', async () => {
    const other = await aTaskPlace(app, alice);
    const task = await other.create(alice);
    await app.ctx.db.updateTable('storage').set({ status: 'terminating' }).where('id', '=', other.storage).execute();
    for (const [path, more] of [
      ['task/output/list', {}],
      ['task/output/download-link', { key: 'a' }],
      ['task/output/preview-link', { key: 'a' }],
    ] as const)
      expect.soft(await ask(path, { id: task.id, ...more }), path).toMatchObject({
        status: 200,
        body: { isSuccess: false, message: 'The storage of this task was deleted' },
      });
    expect((await alice.client(api.tasks.view, { id: task.id })).entity.storage.status).toBe('terminating');
  });
});
