import { createHash } from 'node:crypto';
import { S3_REGION } from '@stagi/contract/storageRules.ts';
import { presignUrl } from '@stagi/s3/presign.ts';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import type { CreatedS3Key } from '../keys.ts';
import { aBucket, aKey, counted, s3Url, type TestBucket, useOf } from './bucket.ts';
import { ask, type RawAnswer, type RawRequest, send } from './signedRequest.ts';

/** What is refused, and with which codes, one of them. */
export type Refusal = [what: string, run: () => Promise<RawAnswer>, codes: string];

/** Buckets and keys that the refusals are tried with; what they hold may not change. */
export interface Target {
  app: TestApp;
  url: string;
  own: TestBucket;
  foreign: TestBucket;
  /** Of 100 bytes. */
  small: TestBucket;
  whole: CreatedS3Key;
  reader: CreatedS3Key;
  inA: CreatedS3Key;
  tight: CreatedS3Key;
}

export async function aTarget(): Promise<Target> {
  const app = await startTestApp();
  const url = s3Url(app);
  const alice = await app.signUp('Alice');
  const bob = await app.signUp('Bob');
  const own = await aBucket(app, alice);
  const foreign = await aBucket(app, bob);
  const small = await aBucket(app, alice, { quotaBytes: 10_000n });
  const whole = await aKey(app, alice, own);
  const mallory = await aKey(app, bob, foreign);
  const puts: [CreatedS3Key, string][] = [
    [whole, `/${own.name}/a/1`],
    [whole, `/${own.name}/b/1`],
    [mallory, `/${foreign.name}/secret`],
  ];
  for (const [key, path] of puts) expect((await ask(url, key, { method: 'PUT', path, body: 'kept' })).status).toBe(200);
  return {
    app,
    url,
    own,
    foreign,
    small,
    whole,
    reader: await aKey(app, alice, own, { mode: 'read-only' }),
    inA: await aKey(app, alice, own, { prefix: 'a/' }),
    tight: await aKey(app, alice, small),
  };
}

export async function expectAllRefused(
  { app, own, foreign, small }: Target,
  subject: string,
  corpus: readonly Refusal[],
) {
  const accepted: string[] = [];
  for (const [what, run, codes] of corpus) {
    const { status, code } = await run();
    if (status < 400 || !codes.split(' ').includes(code ?? '')) accepted.push(`${what}: ${status} ${code}`);
  }
  console.log(`refusals of ${subject}: n = ${corpus.length}, ${accepted.length} accepted or answered otherwise`);
  expect(accepted).toEqual([]);
  // Nothing was changed on the way.
  expect([await useOf(app, own), await useOf(app, foreign), await useOf(app, small)]).toEqual([
    { bytes: 2 * counted(4), objects: 2 },
    { bytes: counted(4), objects: 1 },
    { bytes: 0, objects: 0 },
  ]);
  const { rows } = await sql<{ etag: string }>`select distinct etag from s3_object`.execute(app.ctx.db);
  expect(rows).toEqual([{ etag: createHash('md5').update('kept').digest('hex') }]);
}

export const md5 = (text: string): string => createHash('md5').update(text).digest('base64');

export const put = (path: string, more: RawRequest = {}): RawRequest => ({
  method: 'PUT',
  path,
  body: 'evil',
  ...more,
});

export const deletion = (keys: string[]): RawRequest => {
  const body = `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`;
  return { method: 'POST', query: [['delete', '']], headers: [['content-md5', md5(body)]], body };
};

/** A URL to get `a/1`. */
export const presigned = ({ url, own, whole }: Target, more: Partial<Parameters<typeof presignUrl>[0]> = {}): string =>
  presignUrl({
    origin: url,
    bucket: own.name,
    key: 'a/1',
    method: 'GET',
    region: S3_REGION,
    expiresInSeconds: 60,
    now: new Date(),
    ...whole,
    ...more,
  });

/** As a visitor who has the URL. */
export const visit = (
  { url }: Target,
  link: string,
  method = 'GET',
  headers: [string, string][] = [],
): Promise<RawAnswer> =>
  send(url, {
    method,
    target: link.slice(url.length),
    headers: [['host', new URL(url).host], ...headers],
    body: Buffer.alloc(0),
  });
