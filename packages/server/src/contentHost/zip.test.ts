import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aStorage } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { createMemberPlaces } from './memberPlaces.ts';
import { putObjects, visitContent } from './testing/visitContent.ts';

let app: TestApp;
let owner: Person;
let id: number;
let folder: string;
beforeAll(async () => {
  app = await startTestApp();
  owner = await app.signUp('Ada');
  id = await aStorage(app.ctx, owner);
  folder = mkdtempSync(join(tmpdir(), 'stagi-archive-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await app?.close();
});

/** Key, and where the archive of `run/` puts it; null: it is not in it. */
const TABLE: [key: string, member: string | null][] = [
  ['run/metrics.jsonl', 'run/metrics.jsonl'],
  ['run/deep/er/model.bin', 'run/deep/er/model.bin'],
  ['run/with space + ü 文件 🙂.txt', 'run/with space + ü 文件 🙂.txt'],
  ['run/made/', 'run/made/'],
  ['run/a', 'run/a'],
  ['run/a/b', 'run/a_/b'],
  ['run/c:d', 'run/c_d'],
  ['run/c_d', 'run/c_d_'],
  ['run/back\\slash', 'run/back_slash'],
  ['run/../up', 'run/_/up'],
  ['run/./here', 'run/_/here'],
  ['run/x//y', 'run/x/_/y'],
  ['run/empty', 'run/empty'],
  ['run/', null],
  ['running', null],
  ['other/z', null],
];

it('packs all objects below a folder, each under a path of its own', async () => {
  const bodyOf = (key: string) => (key === 'run/empty' || key.endsWith('/') ? '' : `body of ${key}`);
  await putObjects(
    app,
    owner,
    id,
    TABLE.map(([key]) => ({ key, body: bodyOf(key) })),
  );
  const { link } = await owner.client(api.sharing.zipLink, { id, prefix: 'run/' });
  const answer = await visitContent(app, link);
  expect([answer.status, answer.isComplete, answer.headers['content-type']]).toEqual([200, true, 'application/zip']);
  expect(answer.headers['content-disposition']).toBe('attachment; filename=run.zip');
  expect(answer.headers['content-security-policy']).toContain('sandbox');
  const file = join(folder, 'run.zip');
  writeFileSync(file, answer.body);
  // Another program than the one that wrote it.
  const read =
    'import json,sys,zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(json.dumps({i.filename: z.read(i).decode() for i in z.infolist()}))';
  const members = JSON.parse(execFileSync('python3', ['-c', read, file], { encoding: 'utf8' }));
  const wanted = TABLE.filter(([, member]) => member !== null).map(([key, member]) => [member, bodyOf(key)]);
  expect(members).toEqual(Object.fromEntries(wanted));
  console.log(`members of an archive: n = ${TABLE.length}`);

  // A prefix within a name keeps the name; the top has the name of the bucket.
  const part = await owner.client(api.sharing.zipLink, { id, prefix: 'run/metr' });
  expect((await visitContent(app, part.link, { method: 'HEAD' })).status).toBe(200);
  const all = await visitContent(app, (await owner.client(api.sharing.zipLink, { id })).link);
  expect(all.headers['content-disposition']).toMatch(/^attachment; filename=[\w-]+\.zip$/);
});

it('gives no two keys the same path', () => {
  const keys = ['a', 'a_', 'a/b', 'a_/b', 'a:/b', 'a:', 'a/', 'A', 'b//', 'b/_', 'b/_/', 'c\u0000', 'c_'];
  const placeOf = createMemberPlaces('top');
  const files = keys.map((key) => placeOf(key)).filter((member) => !member.endsWith('/'));
  expect(new Set(files).size).toBe(files.length);
  for (const file of files) expect(files.filter((other) => other.startsWith(`${file}/`))).toEqual([]);
});

it('is refused without objects, to others, and once its key has ended', async () => {
  const empty = await aStorage(app.ctx, owner);
  await expect(owner.client(api.sharing.zipLink, { id: empty })).rejects.toMatchObject({
    status: 200,
    body: { message: 'There is nothing in this folder' },
  });
  const stranger = await app.signUp('Eve');
  await expect(stranger.client(api.sharing.zipLink, { id })).rejects.toMatchObject({ status: 404 });

  const member = await app.signUp('Max');
  await aMember(app, member, owner.workspaceId, 'Developer');
  const headers = {
    authorization: `Bearer ${member.tokens().accessToken}`,
    'x-client-id': String(owner.workspaceId),
  };
  const reply = await app.post(api.sharing.zipLink.path, { id, prefix: 'run/' }, headers);
  const { link } = reply.body as { link: string };
  expect((await visitContent(app, link)).status).toBe(200);
  expect((await visitContent(app, `${link}x`)).status).toBe(404);
  expect((await visitContent(app, link.replace('/zip/', '/preview/'))).status).toBe(404);
  await owner.client(api.clients.removeMember, { userId: member.userId });
  expect((await visitContent(app, link)).status).toBe(410);
});
