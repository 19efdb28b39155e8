import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { createS3Key, revokeS3Key } from './keys.ts';
import {
  aBucket,
  aKey,
  blobsOf,
  counted,
  heldBody,
  s3Client,
  s3Url,
  type TestBucket,
  useOf,
} from './testing/bucket.ts';
import { type S3Role, spawnS3Role } from './testing/s3Role.ts';
import { CUT_WITHIN_MS, readUntilCut } from './testing/slowDownload.ts';

const MiB = 1024 * 1024;

let app: TestApp;
let apart: S3Role;
let people = 0;
beforeAll(async () => {
  app = await startTestApp();
  apart = await spawnS3Role(app);
});
afterAll(async () => {
  await apart.kill('SIGTERM');
  await app.close();
});

/** What ends a key, and whether it is gone at once for new requests. */
const ENDS: Record<string, (alice: Person, bucket: TestBucket, keyId: number) => Promise<unknown>> = {
  'its revocation': (_alice, _bucket, id) => revokeS3Key(app.ctx.db, { id }),
  'the disabling of its workspace': (alice) =>
    sql`update workspace set disabled_at = now() where id = ${alice.workspaceId}`.execute(app.ctx.db),
  'the removal of its maker from the workspace': async (alice) => {
    // A workspace needs an owner, who removes her.
    const bob = await app.signUp(`Bob ${people}`);
    await sql`insert into membership (workspace_id, user_id, role) values (${alice.workspaceId}, ${bob.userId}, 'Owner')`.execute(
      app.ctx.db,
    );
    bob.useWorkspace(alice.workspaceId);
    await bob.client(api.clients.removeMember, { userId: alice.userId });
  },
  'the disabling of its maker': (alice) =>
    sql`update app_user set disabled_at = now() where id = ${alice.userId}`.execute(app.ctx.db),
};

async function opened(url: string) {
  people += 1;
  const alice = await app.signUp(`Alice ${people}`);
  const bucket = await aBucket(app, alice);
  const key = await aKey(app, alice, bucket);
  return { alice, bucket, key, client: s3Client(url, key) };
}

const services: [string, () => string][] = [
  ['the platform', () => s3Url(app)],
  ['a process of its own', () => apart.url],
];

describe.each(services)('a key at %s ends with', (_service, url) => {
  it.each(Object.entries(ENDS))('%s: requests, uploads and downloads', async (_what, end) => {
    const { alice, bucket, key, client } = await opened(url());
    const Bucket = bucket.name;
    await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body: randomBytes(64 * MiB) }));
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'large' }));
    const download = Body as Readable;
    await new Promise((resolve) => download.once('readable', resolve));
    const held = heldBody([randomBytes(MiB), randomBytes(MiB)]);
    const upload = client.send(
      new PutObjectCommand({
        Bucket,
        Key: 'upload',
        Body: Readable.from(held.body, { objectMode: false }),
        ContentLength: held.length,
      }),
    );
    const uploadEnded = upload.then(
      () => 'stored',
      () => Date.now(),
    );
    held.release();
    await expect.poll(() => blobsOf(app, bucket)).toMatchObject({ writing: 1 });

    const ended = Date.now();
    await end(alice, bucket, key.id);
    await expect(client.send(new ListObjectsV2Command({ Bucket }))).rejects.toMatchObject({
      name: 'InvalidAccessKeyId',
    });
    const [uploadMs, downloadMs] = [Number(await uploadEnded) - ended, (await readUntilCut(download)) - ended];
    console.log(`ended: upload after ${uploadMs} ms, download after ${downloadMs} ms (n = 1 each)`);
    expect(uploadMs).toBeLessThan(CUT_WITHIN_MS);
    expect(downloadMs).toBeLessThan(CUT_WITHIN_MS);
    await expect.poll(() => blobsOf(app, bucket)).toEqual({ stored: 1 });
    expect(await useOf(app, bucket)).toEqual({ bytes: counted(64 * MiB, 'large'), objects: 1 });
  });
});

it('refuses an upload whose key was revoked between its last byte and its answer', async () => {
  const { bucket, key, client } = await opened(s3Url(app));
  const held = heldBody([randomBytes(1_000), randomBytes(1_000)]);
  const upload = client.send(
    new PutObjectCommand({
      Bucket: bucket.name,
      Key: 'late',
      Body: Readable.from(held.body, { objectMode: false }),
      ContentLength: held.length,
    }),
  );
  held.release();
  await expect.poll(() => blobsOf(app, bucket)).toMatchObject({ writing: 1 });
  await revokeS3Key(app.ctx.db, { id: key.id });
  held.release();
  await expect(upload).rejects.toThrow();
  expect(await useOf(app, bucket)).toEqual({ bytes: 0, objects: 0 });
  await expect.poll(() => blobsOf(app, bucket)).toEqual({});
});

describe('keys by purpose', () => {
  const works = async (client: S3Client, { name: Bucket }: TestBucket): Promise<boolean> => {
    try {
      await client.send(new ListObjectsV2Command({ Bucket }));
      return true;
    } catch (error) {
      expect((error as Error).name).toBe('InvalidAccessKeyId');
      return false;
    }
  };

  it('need a member who may use storages: those of the web app and those of a person', async () => {
    const { alice, bucket, client } = await opened(s3Url(app));
    const browser = s3Client(s3Url(app), await aKey(app, alice, bucket, { purpose: 'browser' }));
    const both = async () => [await works(browser, bucket), await works(client, bucket)];
    expect(await both()).toEqual([true, true]);
    // A workspace needs an owner.
    const bob = await app.signUp(`Bob ${people}`);
    await sql`insert into membership (workspace_id, user_id, role) values (${alice.workspaceId}, ${bob.userId}, 'Owner')`.execute(
      app.ctx.db,
    );
    const role = (name: string) =>
      sql`update membership set role = ${name} where user_id = ${alice.userId}`.execute(app.ctx.db);
    await role('Guest');
    expect(await both()).toEqual([false, false]);
    await role('Developer');
    expect(await both()).toEqual([true, true]);
    await sql`delete from membership where user_id = ${alice.userId}`.execute(app.ctx.db);
    expect(await both()).toEqual([false, false]);
  });

  it('a key that outlives its maker stays, others end with the account', async () => {
    const { alice, bucket, key, client } = await opened(s3Url(app));
    await sql`update app_user set disabled_at = now() where id = ${alice.userId}`.execute(app.ctx.db);
    expect(await works(client, bucket)).toBe(false);
    await sql`update s3_key set outlives_maker = true where id = ${key.id}`.execute(app.ctx.db);
    expect(await works(client, bucket)).toBe(true);
  });

  it('ends at its time', async () => {
    const { alice, bucket } = await opened(s3Url(app));
    const at = (ms: number) => aKey(app, alice, bucket, { expiresAt: new Date(Date.now() + ms) });
    expect(await works(s3Client(s3Url(app), await at(-1_000)), bucket)).toBe(false);
    expect(await works(s3Client(s3Url(app), await at(60_000)), bucket)).toBe(true);
  });

  it('is made and revoked within its workspace only', async () => {
    const { alice, bucket, key } = await opened(s3Url(app));
    const mallory = await app.signUp('Mallory');
    const within = app.ctx.within(mallory.workspaceId);
    expect(await revokeS3Key(within, { id: key.id })).toEqual([]);
    const foreign = {
      purpose: 'person',
      workspaceId: mallory.workspaceId,
      bucketId: bucket.id,
      title: 'foreign',
      mode: 'read-write',
      prefix: '',
      madeBy: mallory.userId,
      madeWith: null,
      expiresAt: null,
    } as const;
    await expect(createS3Key(app.ctx, within, foreign)).rejects.toThrow('row-level security');
    expect(await revokeS3Key(app.ctx.within(alice.workspaceId), { id: key.id })).toEqual([key.id]);
    await expect(revokeS3Key(app.ctx.db, {})).rejects.toThrow('needs a condition');
  });

  it('notes when it was last used', async () => {
    const { bucket, key, client } = await opened(s3Url(app));
    expect(await works(client, bucket)).toBe(true);
    const lastUsed = async () => {
      const { rows } = await sql<{ age: number | null }>`select extract(epoch from now() - last_used_at)::float8 as age
        from s3_key where id = ${key.id}`.execute(app.ctx.db);
      return rows[0]!.age;
    };
    await expect.poll(lastUsed).toBeLessThan(30);
  });
});
