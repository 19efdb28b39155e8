import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aBucket, aKey, s3Client, s3Url } from './testing/bucket.ts';
import { ask } from './testing/signedRequest.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

/** Name, the type that the client gives, the type that is stored. */
const TABLE: [key: string, given: string | undefined, stored: string][] = [
  ['train.jsonl', undefined, 'application/x-ndjson'],
  ['train.jsonl', 'binary/octet-stream', 'application/x-ndjson'],
  ['events.ndjson', undefined, 'application/x-ndjson'],
  ['rows.parquet', undefined, 'application/vnd.apache.parquet'],
  ['model.safetensors', undefined, 'application/octet-stream'],
  ['model.gguf', undefined, 'application/octet-stream'],
  ['config.yaml', undefined, 'text/yaml'],
  ['Cargo.toml', undefined, 'application/toml'],
  ['notes/README.md', undefined, 'text/markdown'],
  ['loss.csv', undefined, 'text/csv'],
  ['walk.ipynb', undefined, 'application/x-ipynb+json'],
  ['train.py', undefined, 'text/x-python'],
  ['run.log', undefined, 'text/plain'],
  ['app.ts', undefined, 'text/plain'],
  ['config.json', undefined, 'application/json'],
  ['map.GeoJSON', undefined, 'application/geo+json'],
  ['plot.PNG', undefined, 'image/png'],
  ['Dockerfile', undefined, 'text/plain'],
  ['a.b/no-end', undefined, 'binary/octet-stream'],
  ['.jsonl', undefined, 'binary/octet-stream'],
  ['odd.constructor', undefined, 'binary/octet-stream'],
  ['odd.zzz', undefined, 'binary/octet-stream'],
  // A type that the client says is kept.
  ['train.jsonl', 'text/plain', 'text/plain'],
  ['train.jsonl', 'application/octet-stream', 'application/octet-stream'],
  ['odd.zzz', 'application/x-mine; version=2', 'application/x-mine; version=2'],
];

it('stores the type of the name where a client gave none', async () => {
  const alice = await app.signUp('Alice');
  const bucket = await aBucket(app, alice);
  const key = await aKey(app, alice, bucket);
  const client = s3Client(s3Url(app), key);
  const Bucket = bucket.name;
  const typeOf = async (Key: string) => (await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentType;
  for (const [Key, given, stored] of TABLE) {
    // The AWS client would name a type of its own.
    const headers: [string, string][] = given === undefined ? [] : [['content-type', given]];
    const put = await ask(s3Url(app), key, { method: 'PUT', path: `/${Bucket}/${Key}`, headers, body: '{}' });
    expect(put.status).toBe(200);
    expect({ Key, given, stored: await typeOf(Key) }).toEqual({ Key, given, stored });
  }
  console.log(`content types by name: n = ${TABLE.length}`);

  const parts = { Bucket, Key: 'parts.jsonl' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(parts));
  const { ETag } = await client.send(new UploadPartCommand({ ...parts, UploadId, PartNumber: 1, Body: '{}' }));
  await client.send(
    new CompleteMultipartUploadCommand({
      ...parts,
      UploadId,
      MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] },
    }),
  );
  expect(await typeOf('parts.jsonl')).toBe('application/x-ndjson');

  // A copy is of the same type; one with new metadata is of its new name's.
  const CopySource = `${Bucket}/parts.jsonl`;
  await client.send(new CopyObjectCommand({ Bucket, Key: 'copy.txt', CopySource }));
  await client.send(new CopyObjectCommand({ Bucket, Key: 'new.csv', CopySource, MetadataDirective: 'REPLACE' }));
  expect([await typeOf('copy.txt'), await typeOf('new.csv')]).toEqual(['application/x-ndjson', 'text/csv']);
});
