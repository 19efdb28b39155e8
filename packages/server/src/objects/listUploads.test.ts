import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { seeded } from '@stagi/contract/testing/random.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aBucket, aKey, s3Client, s3Url } from './testing/bucket.ts';

let app: TestApp;
let client: S3Client;
let Bucket: string;
/** In the order of their start. */
const started: { key: string; id: string }[] = [];

const KEYS = [
  'a',
  'a/',
  'a/1',
  'a/1',
  'a/1/x',
  'a/2',
  'a//',
  'a//b',
  'b/c/d',
  'b/c/e',
  'b/é',
  'b/中/1',
  'c d/1',
  'z',
  'z',
];

beforeAll(async () => {
  app = await startTestApp();
  const alice = await app.signUp('Alice');
  const bucket = await aBucket(app, alice);
  Bucket = bucket.name;
  client = s3Client(s3Url(app), await aKey(app, alice, bucket));
  for (const Key of KEYS) await start(Key);
});
afterAll(() => app?.close());

async function start(Key: string): Promise<string> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  started.push({ key: Key, id: UploadId! });
  return UploadId!;
}

/** Uploads as `key id`, common prefixes as they are; page by page, from the markers of the page before. */
async function listAll(input: Omit<ListMultipartUploadsCommandInput, 'Bucket'>): Promise<string[]> {
  const found: string[] = [];
  for (let markers = {}; ; ) {
    const page = await client.send(new ListMultipartUploadsCommand({ Bucket, ...input, ...markers }));
    const uploads = (page.Uploads ?? []).map(({ Key, UploadId }) => `${Key} ${UploadId}`);
    const prefixes = (page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix!);
    expect(uploads.length + prefixes.length).toBeLessThanOrEqual(input.MaxUploads ?? 1_000);
    if (input.Delimiter) expect(page.Delimiter).toBe(input.Delimiter);
    found.push(...uploads, ...prefixes);
    if (!page.IsTruncated) return found.sort();
    expect(uploads.length + prefixes.length).toBe(input.MaxUploads);
    markers = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker || undefined };
  }
}

/** What the API promises, computed from all uploads. */
function expected(prefix: string, delimiter: string): string[] {
  const entries = new Set<string>();
  for (const { key, id } of started.filter((each) => each.key.startsWith(prefix))) {
    const at = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    entries.add(at < 0 ? `${key} ${id}` : key.slice(0, at + delimiter.length));
  }
  return [...entries].sort();
}

it('lists uploads and their common prefixes, each once, in pages of any size', async () => {
  let n = 0;
  for (const Prefix of ['', 'a', 'a/', 'b/', 'b/c', 'c ', 'none'])
    for (const Delimiter of ['', '/', '//', '/1', 'é'])
      for (const MaxUploads of [1, 2, 3, 1_000]) {
        const input = { Prefix, Delimiter: Delimiter || undefined, MaxUploads };
        expect(await listAll(input), JSON.stringify(input)).toEqual(expected(Prefix, Delimiter));
        n += 1;
      }
  console.log(`listings of uploads: n = ${n}`);
});

it('passes over many uploads below one prefix', async () => {
  const random = seeded(17);
  for (let index = 0; index < 40; index += 1) await start(`many/${Math.floor(random() * 8)}/${index}`);
  for (const MaxUploads of [1, 2, 7]) expect(await listAll({ Delimiter: '/', MaxUploads })).toEqual(expected('', '/'));
  expect(await listAll({ Prefix: 'many/', Delimiter: '/', MaxUploads: 3 })).toEqual(expected('many/', '/'));
});

it('answers nothing for a page of none, and escapes prefixes when asked', async () => {
  const none = await client.send(new ListMultipartUploadsCommand({ Bucket, Delimiter: '/', MaxUploads: 0 }));
  expect([none.Uploads ?? [], none.CommonPrefixes ?? [], none.IsTruncated]).toEqual([[], [], false]);
  const escaped = await client.send(
    new ListMultipartUploadsCommand({ Bucket, Prefix: 'c', Delimiter: '/', EncodingType: 'url' }),
  );
  expect(escaped.CommonPrefixes).toEqual([{ Prefix: 'c%20d/' }]);
});

it('shows no prefix whose uploads are all aborted', async () => {
  const UploadId = await start('gone/1');
  expect(await listAll({ Delimiter: '/' })).toContain('gone/');
  await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'gone/1', UploadId }));
  expect(await listAll({ Delimiter: '/' })).not.toContain('gone/');
});
