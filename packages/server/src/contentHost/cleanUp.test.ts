import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aStorage } from '../testing/factories.ts';
import { putObjects, visitContent } from './testing/visitContent.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

it('deletes share links and keys of the web app 7 days after they expired, and keeps the keys of people', async () => {
  const owner = await app.signUp('Ada');
  const id = await aStorage(app.ctx, owner);
  const key = 'words.txt';
  await putObjects(app, owner, id, [{ key, body: '0123456789' }]);
  await owner.client(api.storages.createKey, { id, title: 'of a person', mode: 'read-only' });
  const { link: preview } = await owner.client(api.sharing.previewLink, { id, key });
  const { entity: share } = await owner.client(api.sharing.createShareLink, { id, key });

  const expire = (days: number) =>
    sql`update s3_key set expires_at = now() - make_interval(days => ${days}) where workspace_id = ${owner.workspaceId}`.execute(
      app.ctx.db,
    );
  const purposes = async () =>
    (
      await app.ctx.db
        .selectFrom('s3_key')
        .select('purpose')
        .where('workspace_id', '=', owner.workspaceId)
        .orderBy('id')
        .execute()
    ).map(({ purpose }) => purpose);
  const statuses = () => Promise.all([preview, share.link].map(async (link) => (await visitContent(app, link)).status));

  expect(await statuses()).toEqual([200, 200]);
  await expire(6);
  await cleanUp(app.ctx);
  expect(await purposes()).toEqual(['person', 'person', 'browser', 'share']);
  // The visitor reads that it has ended.
  expect(await statuses()).toEqual([410, 410]);
  await expire(8);
  await cleanUp(app.ctx);
  expect(await purposes()).toEqual(['person', 'person']);
  expect(await statuses()).toEqual([410, 404]);
  expect((await owner.client(api.sharing.shareLinks, { id })).totalCount).toBe(0);
});
