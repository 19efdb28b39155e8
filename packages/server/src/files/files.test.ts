import { randomBytes, randomUUID } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { approveRemoval } from '../quarantine/review.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { beginBackup } from '../testing/runningBackup.ts';
import { blobName, FILES_FOLDER, keepFile, withStagedFiles } from './keep.ts';
import { compareFiles, removeDoomed } from './worker.ts';

describe('the files of the platform', () => {
  let app: TestApp;
  beforeAll(async () => {
    // Without workers: the tests call what they do.
    app = await startTestApp({}, { role: 'api' });
  });
  afterAll(() => app?.close());

  const png = (background: string) =>
    sharp({ create: { width: 300, height: 300, channels: 3, background } })
      .png()
      .toBuffer();
  const upload = (content: Buffer) =>
    ({ fileName: 'a.png', mimeType: 'image/png', contentBase64: content.toString('base64') }) as never;
  const edit = async (person: Person, background: string) =>
    (await person.client(api.user.edit, { image: upload(await png(background)) })).userProfile.image!;
  const rows = () => app.ctx.db.selectFrom('stored_file').select(['id', 'state']).orderBy('id').execute();
  async function stored(): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of app.ctx.files.list(FILES_FOLDER)) names.push(name);
    return names.toSorted();
  }
  const put = (name: string, content: Buffer) =>
    app.ctx.files.put(
      name,
      (async function* () {
        yield content;
      })(),
    );

  it('hold the bytes of a picture, and those of a replaced, removed or deleted one are removed', async () => {
    const ada = await app.signUp('Ada');
    const first = await edit(ada, '#c04');
    const [one] = await stored();
    await edit(ada, '#0c4');
    expect((await rows()).map(({ state }) => state).toSorted()).toEqual(['doomed', 'stored']);
    expect(await stored()).toHaveLength(2);
    await removeDoomed(app.ctx);
    expect(await stored()).toHaveLength(1);
    expect(await stored()).not.toContain(one);
    expect((await fetch(app.url + first)).status).toBe(404);

    await ada.client(api.user.edit, { image: null });
    await removeDoomed(app.ctx);
    expect([await rows(), await stored()]).toEqual([[], []]);

    const last = await edit(ada, '#00c');
    expect((await fetch(app.url + last)).status).toBe(200);
    // As the deletion of an account does, table by table.
    await app.ctx.db.deleteFrom('user_picture').where('user_id', '=', ada.userId).execute();
    await removeDoomed(app.ctx);
    expect([await rows(), await stored()]).toEqual([[], []]);
    expect((await fetch(app.url + last)).status).toBe(404);
  });

  it('stay while a backup runs, as its rows may name them', async () => {
    const finn = await app.signUp('Finn');
    await edit(finn, '#c04');
    const [one] = await stored();
    const backup = await beginBackup(app.databaseUrl);
    await edit(finn, '#0c4');
    await removeDoomed(app.ctx);
    expect(await stored()).toContain(one);
    await backup.end();
    await removeDoomed(app.ctx);
    expect(await stored()).toHaveLength(1);
    expect(await stored()).not.toContain(one);
    await finn.client(api.user.edit, { image: null });
    await removeDoomed(app.ctx);
    expect([await rows(), await stored()]).toEqual([[], []]);
  });

  it('go with an account and with the age of feedback', async () => {
    const [bob, carol] = [await app.signUp('Bob'), await app.signUp('Carol')];
    await edit(bob, '#c04');
    for (const person of [bob, carol]) {
      await person.client(api.feedback.send, {
        topic: 'Report an issue',
        subject: 's',
        description: 'd',
        imageUploads: [upload(await png('#123')), upload(await png('#456'))],
      });
    }
    expect(await stored()).toHaveLength(5);
    await app.ctx.db.updateTable('session').set({ stepped_up_at: sql<Date>`now()` }).execute();
    await bob.client(api.account.delete, { email: bob.email });
    await removeDoomed(app.ctx);
    expect(await stored()).toHaveLength(2);
    await sql`update feedback_image set created_at = now() - interval '181 days' where position = 0`.execute(
      app.ctx.db,
    );
    await cleanUp(app.ctx);
    await removeDoomed(app.ctx);
    expect(await stored()).toHaveLength(1);
    await app.ctx.db.deleteFrom('feedback').execute();
    await removeDoomed(app.ctx);
    expect([await rows(), await stored()]).toEqual([[], []]);
  });

  it('are given up when what refers to them fails, or never comes', async () => {
    const failed = withStagedFiles(app.ctx, [randomBytes(10), randomBytes(20)], async () => {
      expect(await stored()).toHaveLength(2);
      throw new Error('refused');
    });
    await expect(failed).rejects.toThrow('refused');
    await removeDoomed(app.ctx);
    expect([await rows(), await stored()]).toEqual([[], []]);

    // What a process that is killed leaves.
    await withStagedFiles(app.ctx, [randomBytes(10)], async ([staged]) => {
      await removeDoomed(app.ctx);
      expect(await stored()).toEqual([blobName(staged!.id)]);
      await sql`update stored_file set created_at = now() - interval '61 minutes'`.execute(app.ctx.db);
      await removeDoomed(app.ctx);
      expect([await rows(), await stored()]).toEqual([[], []]);
      await expect(keepFile(app.ctx.db, staged!)).rejects.toMatchObject({ status: 503 });
    });
  });

  it('that have no row are noted and, once approved, removed; nothing else is', async () => {
    const eve = await app.signUp('Eve');
    const path = await edit(eve, '#c04');
    const [kept] = await stored();
    const orphan = blobName('00000000-0000-4000-8000-000000000000');
    const foreign = `${FILES_FOLDER}readme`;
    await put(orphan, randomBytes(10));
    await put(foreign, randomBytes(10));
    await compareFiles(app.ctx);
    expect(await app.ctx.db.selectFrom('unknown_bytes').select(['place', 'name', 'bytes']).execute()).toEqual([
      { place: 'files', name: orphan, bytes: 10n },
    ]);
    await sql`update unknown_bytes set found_at = now() - interval '8 days'`.execute(app.ctx.db);
    await compareFiles(app.ctx);
    // One of two is more than 1 %.
    expect(await stored()).toEqual([kept, orphan, foreign].toSorted());
    await approveRemoval(app.ctx.db, 'files');
    await compareFiles(app.ctx);
    expect(await stored()).toEqual([kept, foreign].toSorted());
    expect((await fetch(app.url + path)).status).toBe(200);

    await put(`installation/${randomUUID()}`, randomBytes(10));
    await put(orphan, randomBytes(10));
    await compareFiles({ ...app.ctx, installationId: randomUUID() });
    expect(await app.ctx.db.selectFrom('unknown_bytes').select('name').execute()).toEqual([]);
  });
});
