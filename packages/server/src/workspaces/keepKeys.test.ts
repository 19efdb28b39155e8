import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { putObjects, visitContent } from '../contentHost/testing/visitContent.ts';
import { s3Client, s3Url } from '../objects/testing/bucket.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aStorage } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

describe('access keys and share links of a removed member', () => {
  let app: TestApp;
  let owner: Person;
  let member: Person;
  /** Of the member. */
  let ownWorkspace: number;
  let id: number;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app?.close());
  beforeEach(async () => {
    [owner, member] = [await app.signUp('Ada'), await app.signUp('Max')];
    await aMember(app, member, owner.workspaceId, 'Developer');
    ownWorkspace = member.workspaceId;
    member.useWorkspace(owner.workspaceId);
    id = await aStorage(app.ctx, owner);
    await putObjects(app, owner, id, [{ key: 'words.txt', type: 'text/plain', body: '0123456789' }]);
  });

  /** A key, a share link and a preview of the member, as what they answer now. */
  async function madeByMember() {
    const { entity: key } = await member.client(api.storages.createKey, { id, title: 'k', mode: 'read-only' });
    const { entity: share } = await member.client(api.sharing.createShareLink, { id, key: 'words.txt' });
    const { link: preview } = await member.client(api.sharing.previewLink, { id, key: 'words.txt' });
    const { name: Bucket } = await app.ctx.db
      .selectFrom('s3_bucket')
      .select('name')
      .where('workspace_id', '=', owner.workspaceId)
      .executeTakeFirstOrThrow();
    const client = s3Client(s3Url(app), { ...key, id: key.id });
    const answerOfKey = () =>
      client.send(new ListObjectsV2Command({ Bucket })).then(
        () => 200,
        (error: Error) => error.name,
      );
    return async () => ({
      key: await answerOfKey(),
      share: (await visitContent(app, share.link)).status,
      preview: (await visitContent(app, preview)).status,
    });
  }
  const countOf = async (person: Person) =>
    (await owner.client(api.clients.members, {})).entities.find(({ userId }) => userId === person.userId)?.keysAndLinks;
  const removal = async () => {
    const { entities } = await owner.client(api.audit.list, {});
    return entities.find(({ action }) => action === 'client/member/remove');
  };

  it('are counted while they work', async () => {
    expect(await countOf(member)).toBe(0);
    await madeByMember();
    expect(await countOf(member)).toBe(2);
    await sql`update s3_key set expires_at = now() where made_by = ${member.userId} and purpose = 'share'`.execute(
      app.ctx.db,
    );
    expect(await countOf(member)).toBe(1);
  });

  it('end with the membership', async () => {
    const answers = await madeByMember();
    expect(await answers()).toEqual({ key: 200, share: 200, preview: 200 });
    await owner.client(api.clients.removeMember, { userId: member.userId, keepKeys: false });
    expect(await answers()).toEqual({ key: 'InvalidAccessKeyId', share: 410, preview: 410 });
    expect((await removal())?.detail).toEqual({ keepKeys: false });
  });

  it('go on when whoever removes the member keeps them, also after the account ends; previews do not', async () => {
    const answers = await madeByMember();
    await owner.client(api.clients.removeMember, { userId: member.userId, keepKeys: true });
    const kept = { key: 200, share: 200, preview: 410 };
    expect(await answers()).toEqual(kept);
    expect((await removal())?.detail).toEqual({ keepKeys: true });
    await sql`update app_user set disabled_at = now() where id = ${member.userId}`.execute(app.ctx.db);
    expect(await answers()).toEqual(kept);
  });

  it('of other workspaces and other members stay as they are', async () => {
    member.useWorkspace(ownWorkspace);
    const elsewhere = await aStorage(app.ctx, member);
    await member.client(api.storages.createKey, { id: elsewhere, title: 'elsewhere', mode: 'read-only' });
    await owner.client(api.storages.createKey, { id, title: 'of the owner', mode: 'read-only' });
    const rows = async () =>
      (
        await sql`select title, revoked_at, outlives_maker from s3_key
        where title in ('elsewhere', 'of the owner') and made_by in (${owner.userId}, ${member.userId}) order by title`.execute(
          app.ctx.db,
        )
      ).rows;
    const before = await rows();
    expect(before).toHaveLength(2);
    await owner.client(api.clients.removeMember, { userId: member.userId, keepKeys: true });
    expect(await rows()).toEqual(before);
  });
});
