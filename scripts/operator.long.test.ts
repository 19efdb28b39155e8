import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListBucketsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { api } from '@stagi/contract/api.ts';
import { repairObjects } from '@stagi/server/src/objects/repair.ts';
import { s3Client } from '@stagi/server/src/objects/testing/bucket.ts';
import { type S3Role, spawnS3Role } from '@stagi/server/src/objects/testing/s3Role.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { runOperator } from '@stagi/server/src/testing/operator.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const PROMISED_MS = 2_000;

let app: TestApp;
let apart: S3Role;
beforeAll(async () => {
  app = await startTestApp();
  apart = await spawnS3Role(app);
});
afterAll(async () => {
  await apart?.kill('SIGTERM');
  await app?.close();
});

const operator = (...args: string[]) =>
  runOperator(
    {
      DATABASE_URL: app.databaseUrl,
      STAGI_DATA: app.dataDir,
      S3_PORT: String(app.ctx.config.s3Port),
      STAGI_ENVIRONMENT: 'test',
    },
    ...args,
  );

const after = (out: string, label: string): string => new RegExp(`^${label}: +(\\S+)$`, 'm').exec(out)?.[1] ?? '';

it('makes a key that makes and deletes buckets, and ends it at every S3 process', async () => {
  const made = await operator('s3-admin', 'suite');
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining('Owner of buckets:  suite') });
  const endpoint = after(made.out, 'Endpoint');
  const key = {
    id: 0,
    accessKeyId: after(made.out, 'Access key ID'),
    secretAccessKey: after(made.out, 'Secret access key'),
  };
  const client = s3Client(endpoint, key);
  const other = s3Client(apart.url, key);
  const Bucket = 'made-by-the-operator';
  await client.send(new CreateBucketCommand({ Bucket }));
  await other.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'a' }));
  expect((await client.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name)).toEqual([Bucket]);
  await other.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
  await client.send(new DeleteBucketCommand({ Bucket }));
  expect((await other.send(new ListBucketsCommand({}))).Buckets ?? []).toEqual([]);

  // Another name has other keys.
  expect((await operator('s3-admin-revoke', 'other')).out).toContain('that were revoked: 0');
  await client.send(new ListBucketsCommand({}));
  const revoked = await operator('s3-admin-revoke', 'suite');
  const at = Date.now();
  expect(revoked).toEqual({ code: 0, out: 'Access keys of suite that were revoked: 1\n' });
  for (const each of [client, other])
    await expect
      .poll(() =>
        each.send(new ListBucketsCommand({})).then(
          () => 'answered',
          (error: Error) => error.name,
        ),
      )
      .toBe('InvalidAccessKeyId');
  const ms = Date.now() - at;
  console.log(`s3-admin-revoke: refused by both processes after ${ms} ms (n = 1)`);
  expect(ms).toBeLessThan(PROMISED_MS);
});

it('shows what the database does not know, and has it removed', async () => {
  const store = app.ctx.blobs.get('local')!;
  const name = `objects/${randomUUID()}`;
  await store.put(name, Readable.from([Buffer.from('loose')]));
  await repairObjects(app.ctx);
  const shown = await operator('unknown');
  expect(shown).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^objects\/local: 1 unknown \(5 bytes\) since .*ALARM/m),
  });
  expect(await operator('unknown-remove', 'objects/nowhere')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/: 0\n$/),
  });
  expect(await operator('unknown-remove', 'objects/local')).toEqual({
    code: 0,
    out: 'Removed by the next comparison of objects/local, within an hour: 1\n',
  });
  expect((await operator('unknown')).out).toContain('removal approved of 1');
  expect(await store.head(name)).not.toBeNull();
  await repairObjects(app.ctx);
  expect(await store.head(name)).toBeNull();
  expect((await operator('unknown')).out).toContain('objects/local: the database knows everything\n');
});

it('makes a link that somebody signs up with, for the first person too', async () => {
  const made = await operator('invite', '--uses', '2', '--days', '3');
  expect(made).toMatchObject({
    code: 0,
    out: expect.stringMatching(/\/sign-up\?invite=\S+\nFor 2 people, until .*\nNobody needs it: SIGN_UP is open/),
  });
  const invite = /invite=(\S+)/.exec(made.out)?.[1] ?? '';
  const { expiresAt } = await app.anonymous(api.signUpLinks.view, { invite });
  expect(Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)).toBe(3);
});

it.each([
  [['invite', '--uses', '0']],
  [['invite', '--days', '91']],
  [['invite', 'somebody']],
  [['s3-admin']],
  [['s3-admin', 'Not A Name']],
  [['s3-admin', 'a', 'b']],
  [['s3-admin-revoke', '-x']],
  [['unknown', 'files']],
  [['unknown-remove']],
  [[]],
])('tells how it is used for %j', async (args) => {
  expect(await operator(...args)).toMatchObject({ code: 2, out: expect.stringContaining('usage: npm run operator') });
});
