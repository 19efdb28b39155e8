import { createHash, createHmac } from 'node:crypto';
import { S3_REGION } from '@stagi/contract/storageRules.ts';
import { presignUrl } from '@stagi/s3/presign.ts';
import { scopeText, sha256, signingKey } from '@stagi/s3/signature.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { CreatedS3Key } from './keys.ts';
import { aBucket, aKey, s3Url, type TestBucket, useOf } from './testing/bucket.ts';
import { ask, type RawAnswer, type RawRequest, send, signed } from './testing/signedRequest.ts';

const md5 = (text: string): string => createHash('md5').update(text).digest('base64');
const MINUTE = 60_000;

let app: TestApp;
let url: string;
let own: TestBucket;
let foreign: TestBucket;
let small: TestBucket;
let whole: CreatedS3Key;
let reader: CreatedS3Key;
let inA: CreatedS3Key;
let tight: CreatedS3Key;
let mallory: CreatedS3Key;

beforeAll(async () => {
  app = await startTestApp();
  url = s3Url(app);
  const alice = await app.signUp('Alice');
  const bob = await app.signUp('Bob');
  own = await aBucket(app, alice);
  foreign = await aBucket(app, bob);
  small = await aBucket(app, alice, { quotaBytes: 100n });
  whole = await aKey(app, alice, own);
  reader = await aKey(app, alice, own, { mode: 'read-only' });
  inA = await aKey(app, alice, own, { prefix: 'a/' });
  tight = await aKey(app, alice, small);
  mallory = await aKey(app, bob, foreign);
  const puts: [CreatedS3Key, string][] = [
    [whole, `/${own.name}/a/1`],
    [whole, `/${own.name}/b/1`],
    [mallory, `/${foreign.name}/secret`],
  ];
  for (const [key, path] of puts) expect((await ask(url, key, { method: 'PUT', path, body: 'kept' })).status).toBe(200);
});
afterAll(() => app?.close());

const put = (path: string, more: RawRequest = {}): RawRequest => ({ method: 'PUT', path, body: 'evil', ...more });
const deletion = (keys: string[]): RawRequest => {
  const body = `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`;
  return { method: 'POST', query: [['delete', '']], headers: [['content-md5', md5(body)]], body };
};

function presigned(more: Partial<Parameters<typeof presignUrl>[0]> = {}): string {
  return presignUrl({
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
}

/** As a visitor who has the URL. */
const visit = (link: string, method = 'GET', headers: [string, string][] = []): Promise<RawAnswer> =>
  send(url, {
    method,
    target: link.slice(url.length),
    headers: [['host', new URL(url).host], ...headers],
    body: Buffer.alloc(0),
  });

/** A put of 8 bytes in one signed chunk, and what is done to it on the way. */
async function chunked(
  change: { chunk?: string; last?: string; size?: string; data?: string; trailer?: string; decoded?: string } = {},
): Promise<RawAnswer> {
  const hasTrailer = change.trailer !== undefined;
  const payloadHash = `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${hasTrailer ? '-TRAILER' : ''}`;
  const first = signed(url, whole, {
    method: 'PUT',
    path: `/${own.name}/chunked`,
    payloadHash,
    headers: [
      ['x-amz-decoded-content-length', change.decoded ?? '8'],
      ...(hasTrailer ? ([['x-amz-trailer', 'x-amz-checksum-crc32']] as [string, string][]) : []),
    ],
  });
  const scope = { date: first.timestamp.slice(0, 8), region: first.region };
  const key = signingKey(whole.secretAccessKey, scope);
  const chain = (previous: string, data: string): string =>
    createHmac('sha256', key)
      .update(
        ['AWS4-HMAC-SHA256-PAYLOAD', first.timestamp, scopeText(scope), previous, sha256(''), sha256(data)].join('\n'),
      )
      .digest('hex');
  const one = chain(first.signature, '12345678');
  const end = chain(one, '');
  const body = Buffer.from(
    `${change.size ?? '8'};chunk-signature=${change.chunk ?? one}\r\n${change.data ?? '12345678'}\r\n` +
      `0;chunk-signature=${change.last ?? end}\r\n${change.trailer ?? ''}\r\n`,
  );
  const headers = first.headers.filter(([name]) => name !== 'content-length');
  return send(url, { ...first, headers: [...headers, ['content-length', String(body.length)]], body });
}

const ZEROES = '0'.repeat(64);
type Case = [what: string, run: () => Promise<RawAnswer>, codes: string];

const cases = (): Case[] => {
  const at = (path: string): string => `/${own.name}/${path}`;
  const as = (key: CreatedS3Key, raw: RawRequest) => (): Promise<RawAnswer> => ask(url, key, raw);
  const wrong = { ...whole, secretAccessKey: 'x'.repeat(40) };
  const unknown = { ...whole, accessKeyId: 'STGNOBODYATALLXXXXXX' };
  const swap =
    (name: string, value: string) =>
    (sent: { headers: [string, string][] }): void => {
      for (const header of sent.headers) if (header[0] === name) header[1] = value;
    };
  const resign = (from: RegExp, to: string) => (sent: { headers: [string, string][] }) => {
    for (const header of sent.headers) if (header[0] === 'authorization') header[1] = header[1].replace(from, to);
  };
  return [
    ['wrong secret, get', as(wrong, { path: at('a/1') }), 'SignatureDoesNotMatch'],
    ['wrong secret, put', as(wrong, put(at('a/1'))), 'SignatureDoesNotMatch'],
    ['unknown key', as(unknown, { path: at('a/1') }), 'InvalidAccessKeyId'],
    ['key id with SQL', as({ ...whole, accessKeyId: "'or'1'='1" }, { path: at('a/1') }), 'InvalidAccessKeyId'],
    ['no signature', () => visit(`${url}${at('a/1')}`), 'AccessDenied'],
    ['no signature, put', () => visit(`${url}${at('a/1')}`, 'PUT'), 'AccessDenied'],
    ['no signature, list', () => visit(`${url}/${own.name}?list-type=2`), 'AccessDenied'],
    [
      'signature of version 2',
      () => visit(`${url}${at('a/1')}`, 'GET', [['authorization', 'AWS a:b']]),
      'InvalidRequest',
    ],
    [
      'empty authorization',
      () => visit(`${url}${at('a/1')}`, 'GET', [['authorization', '']]),
      'InvalidRequest AccessDenied',
    ],
    ['signature cut', as(whole, { path: at('a/1'), tamper: resign(/.$/, '') }), 'SignatureDoesNotMatch'],
    [
      'signature of zeroes',
      as(whole, { path: at('a/1'), tamper: resign(/Signature=.*/, `Signature=${ZEROES}`) }),
      'SignatureDoesNotMatch',
    ],
    [
      'other date in the scope',
      as(whole, { path: at('a/1'), tamper: resign(/\/\d{8}\//, '/20200101/') }),
      'AuthorizationHeaderMalformed',
    ],
    [
      'other region in the scope',
      as(whole, { path: at('a/1'), tamper: resign(/us-east-1/, 'eu-west-1') }),
      'SignatureDoesNotMatch',
    ],
    [
      'other service in the scope',
      as(whole, { path: at('a/1'), tamper: resign(/\/s3\//, '/sts/') }),
      'AuthorizationHeaderMalformed',
    ],
    [
      'method changed',
      as(whole, { path: at('a/1'), tamper: (sent) => Object.assign(sent, { method: 'DELETE' }) }),
      'SignatureDoesNotMatch',
    ],
    [
      'head used as get',
      as(whole, { method: 'HEAD', path: at('a/1'), tamper: (sent) => Object.assign(sent, { method: 'GET' }) }),
      'SignatureDoesNotMatch',
    ],
    [
      'path changed',
      as(whole, { path: at('a/1'), tamper: (sent) => Object.assign(sent, { target: at('b/1') }) }),
      'SignatureDoesNotMatch',
    ],
    ['query added', as(whole, { path: at('a/1'), unsigned: { query: 'tagging' } }), 'SignatureDoesNotMatch'],
    [
      'query doubled',
      as(whole, { path: `/${own.name}`, query: [['prefix', 'a/']], unsigned: { query: 'prefix=b/' } }),
      'SignatureDoesNotMatch',
    ],
    [
      'host changed',
      as(whole, { path: at('a/1'), tamper: swap('host', 'elsewhere.example') }),
      'SignatureDoesNotMatch',
    ],
    [
      'signed header changed',
      as(whole, put(at('a/1'), { headers: [['x-amz-meta-a', '1']], tamper: swap('x-amz-meta-a', '2') })),
      'SignatureDoesNotMatch',
    ],
    [
      'signed header doubled',
      as(whole, put(at('a/1'), { headers: [['x-amz-meta-a', '1']], unsigned: { headers: [['x-amz-meta-a', '2']] } })),
      'SignatureDoesNotMatch',
    ],
    [
      'unsigned x-amz header',
      as(whole, put(at('a/1'), { unsigned: { headers: [['x-amz-copy-source', at('b/1')]] } })),
      'AccessDenied',
    ],
    [
      'unsigned metadata',
      as(whole, put(at('a/1'), { unsigned: { headers: [['x-amz-meta-a', '2']] } })),
      'AccessDenied',
    ],
    [
      'authorization doubled',
      as(whole, { path: at('a/1'), unsigned: { headers: [['authorization', 'AWS4-HMAC-SHA256 x']] } }),
      'InvalidArgument AccessDenied',
    ],
    [
      'date doubled',
      as(whole, { path: at('a/1'), unsigned: { headers: [['x-amz-date', '20200101T000000Z']] } }),
      'SignatureDoesNotMatch AccessDenied AuthorizationHeaderMalformed',
    ],
    [
      '16 minutes early',
      as(whole, { path: at('a/1'), time: new Date(Date.now() + 16 * MINUTE) }),
      'RequestTimeTooSkewed',
    ],
    [
      '16 minutes late',
      as(whole, put(at('a/1'), { time: new Date(Date.now() - 16 * MINUTE) })),
      'RequestTimeTooSkewed',
    ],
    ['years late', as(whole, { path: at('a/1'), time: new Date('2015-08-30T12:36:00Z') }), 'RequestTimeTooSkewed'],
    [
      'other payload',
      as(whole, put(at('a/1'), { tamper: (sent) => Object.assign(sent, { body: Buffer.from('EVIL') }) })),
      'XAmzContentSHA256Mismatch',
    ],
    [
      'payload hash swapped',
      as(whole, put(at('a/1'), { tamper: swap('x-amz-content-sha256', sha256('EVIL')) })),
      'SignatureDoesNotMatch',
    ],
    [
      'payload said to be unsigned',
      as(whole, put(at('a/1'), { tamper: swap('x-amz-content-sha256', 'UNSIGNED-PAYLOAD') })),
      'SignatureDoesNotMatch',
    ],
    ['payload hash that is none', as(whole, put(at('a/1'), { payloadHash: 'nothing' })), 'InvalidArgument'],
    ['other MD5', as(whole, put(at('a/1'), { headers: [['content-md5', md5('other')]] })), 'BadDigest'],
    ['MD5 that is none', as(whole, put(at('a/1'), { headers: [['content-md5', 'abc']] })), 'InvalidDigest'],
    ['other checksum', as(whole, put(at('a/1'), { headers: [['x-amz-checksum-crc32', 'AAAAAA==']] })), 'BadDigest'],
    [
      'two checksums',
      as(
        whole,
        put(at('a/1'), {
          headers: [
            ['x-amz-checksum-crc32', 'AAAAAA=='],
            ['x-amz-checksum-crc32c', 'AAAAAA=='],
          ],
        }),
      ),
      'InvalidRequest',
    ],
    ['chunk signature changed', () => chunked({ chunk: ZEROES }), 'SignatureDoesNotMatch'],
    ['chunk data changed', () => chunked({ data: '12345679' }), 'SignatureDoesNotMatch'],
    ['last chunk signature changed', () => chunked({ last: ZEROES }), 'SignatureDoesNotMatch'],
    ['chunk size that is none', () => chunked({ size: '-8' }), 'InvalidRequest'],
    ['chunk size huge', () => chunked({ size: 'ffffffff' }), 'InvalidRequest'],
    ['chunks shorter than declared', () => chunked({ decoded: '9' }), 'IncompleteBody'],
    ['chunks longer than declared', () => chunked({ decoded: '7' }), 'IncompleteBody'],
    [
      'trailer without signature',
      () => chunked({ trailer: 'x-amz-checksum-crc32:mu3qYQ==\r\n' }),
      'SignatureDoesNotMatch IncompleteBody',
    ],
    [
      'trailer with a wrong signature',
      () => chunked({ trailer: `x-amz-checksum-crc32:mu3qYQ==\r\nx-amz-trailer-signature:${ZEROES}\r\n` }),
      'SignatureDoesNotMatch',
    ],
    [
      'trailer of something else',
      as(
        whole,
        put(at('a/1'), {
          payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
          headers: [
            ['x-amz-trailer', 'x-amz-meta-a'],
            ['x-amz-decoded-content-length', '4'],
          ],
          body: '4\r\nevil\r\n0\r\nx-amz-meta-a:1\r\n\r\n',
        }),
      ),
      'InvalidRequest',
    ],
    [
      'unsigned trailer with a wrong checksum',
      as(
        whole,
        put(at('a/1'), {
          payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
          headers: [
            ['x-amz-trailer', 'x-amz-checksum-crc32'],
            ['x-amz-decoded-content-length', '4'],
          ],
          body: '4\r\nevil\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n',
        }),
      ),
      'BadDigest',
    ],
    ['URL expired', () => visit(presigned({ now: new Date(Date.now() - 61_000) })), 'AccessDenied'],
    ['URL of tomorrow', () => visit(presigned({ now: new Date(Date.now() + 86_400_000) })), 'AccessDenied'],
    [
      'URL of more than 7 days',
      () => visit(presigned({ expiresInSeconds: 604_801 })),
      'AuthorizationQueryParametersError',
    ],
    [
      'URL made to last longer',
      () => visit(presigned().replace('X-Amz-Expires=60', 'X-Amz-Expires=600')),
      'SignatureDoesNotMatch',
    ],
    ['URL of another key', () => visit(presigned().replace('/a/1?', '/b/1?')), 'SignatureDoesNotMatch'],
    ['URL of another method', () => visit(presigned(), 'DELETE'), 'SignatureDoesNotMatch'],
    ['URL with a parameter more', () => visit(`${presigned()}&acl=`), 'SignatureDoesNotMatch'],
    [
      'URL with a parameter doubled',
      () => visit(`${presigned()}&X-Amz-Expires=600`),
      'AuthorizationQueryParametersError',
    ],
    [
      'URL without its signature',
      () => visit(presigned().replace(/&X-Amz-Signature=.*/, '')),
      'AuthorizationQueryParametersError',
    ],
    [
      'URL and header at once',
      () => visit(presigned(), 'GET', [['authorization', 'AWS4-HMAC-SHA256 x']]),
      'InvalidArgument',
    ],
    [
      'URL with an unsigned x-amz header',
      () => visit(presigned({ method: 'PUT' }), 'PUT', [['x-amz-copy-source', at('b/1')]]),
      'AccessDenied',
    ],
    ['foreign bucket, get', as(whole, { path: `/${foreign.name}/secret` }), 'AccessDenied'],
    ['foreign bucket, put', as(whole, put(`/${foreign.name}/secret`)), 'AccessDenied'],
    ['foreign bucket, list', as(whole, { path: `/${foreign.name}` }), 'AccessDenied'],
    [
      'foreign bucket as copy source',
      as(whole, put(at('stolen'), { body: '', headers: [['x-amz-copy-source', `/${foreign.name}/secret`]] })),
      'AccessDenied',
    ],
    ['foreign bucket behind dots', as(whole, { encodedPath: at(`../${foreign.name}/secret`) }), 'NoSuchKey'],
    [
      'foreign bucket behind encoded dots',
      as(whole, { encodedPath: at(`%2e%2e/${foreign.name}/secret`) }),
      'NoSuchKey',
    ],
    ['bucket that is not there', as(whole, { path: '/no-such-bucket-here/x' }), 'AccessDenied'],
    ['bucket of the user made', as(whole, { method: 'PUT', path: '/made-by-me' }), 'AccessDenied'],
    ['own bucket deleted', as(whole, { method: 'DELETE', path: `/${own.name}` }), 'AccessDenied'],
    ['read-only key, put', as(reader, put(at('a/1'))), 'AccessDenied'],
    ['read-only key, delete', as(reader, { method: 'DELETE', path: at('a/1') }), 'AccessDenied'],
    ['read-only key, batch delete', as(reader, { ...deletion(['a/1']), path: `/${own.name}` }), 'AccessDenied'],
    [
      'read-only key, copy',
      as(reader, put(at('a/2'), { body: '', headers: [['x-amz-copy-source', at('a/1')]] })),
      'AccessDenied',
    ],
    [
      'read-only key, multipart',
      as(reader, { method: 'POST', path: at('a/1'), query: [['uploads', '']] }),
      'AccessDenied',
    ],
    ['read-only key, tags', as(reader, put(at('a/1'), { query: [['tagging', '']] })), 'AccessDenied'],
    ['read-only key, CORS', as(reader, put(`/${own.name}`, { query: [['cors', '']] })), 'AccessDenied'],
    ['outside its prefix, get', as(inA, { path: at('b/1') }), 'AccessDenied'],
    ['outside its prefix, put', as(inA, put(at('b/1'))), 'AccessDenied'],
    ['outside its prefix, delete', as(inA, { method: 'DELETE', path: at('b/1') }), 'AccessDenied'],
    [
      'outside its prefix, copy source',
      as(inA, put(at('a/2'), { body: '', headers: [['x-amz-copy-source', at('b/1')]] })),
      'AccessDenied',
    ],
    ['outside its prefix, list', as(inA, { path: `/${own.name}` }), 'AccessDenied'],
    [
      'outside its prefix, list of version 2',
      as(inA, {
        path: `/${own.name}`,
        query: [
          ['list-type', '2'],
          ['prefix', 'b/'],
        ],
      }),
      'AccessDenied',
    ],
    ['outside its prefix, uploads', as(inA, { path: `/${own.name}`, query: [['uploads', '']] }), 'AccessDenied'],
    ['outside its prefix, by dots', as(inA, put(at('a/../b/1'), { headers: [['if-match', '"x"']] })), 'NoSuchKey'],
    ['over quota', as(tight, put(`/${small.name}/big`, { body: 'x'.repeat(101) })), 'QuotaExceeded'],
    [
      'over quota, part',
      async () => {
        const made = await ask(url, tight, { method: 'POST', path: `/${small.name}/big`, query: [['uploads', '']] });
        const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(made.body)![1]!;
        return ask(
          url,
          tight,
          put(`/${small.name}/big`, {
            query: [
              ['partNumber', '1'],
              ['uploadId', uploadId],
            ],
            body: 'x'.repeat(101),
          }),
        );
      },
      'QuotaExceeded',
    ],
    ['NUL in a key', as(whole, put('/', { encodedPath: at('nul%00') })), 'InvalidURI'],
    ['key that is not UTF-8', as(whole, put('/', { encodedPath: at('%ff%fe') })), 'InvalidURI'],
    ['key in overlong UTF-8', as(whole, put('/', { encodedPath: at('%c0%ae') })), 'InvalidURI'],
    ['key with half an escape', as(whole, put('/', { encodedPath: at('%4') })), 'InvalidURI'],
    ['key of 1,025 bytes', as(whole, put(at('k'.repeat(1_025)))), 'KeyTooLongError'],
    ['key of 1,025 bytes of UTF-8', as(whole, put(at(`${'é'.repeat(512)}k`))), 'KeyTooLongError'],
    ['bucket name in capitals', as(whole, put(`/${own.name.toUpperCase()}/x`)), 'InvalidBucketName'],
    ['bucket name of dots', as(whole, put('/', { encodedPath: '/%2e%2e/x' })), 'InvalidBucketName'],
    ['bucket name with a slash', as(whole, { encodedPath: `/${own.name}%2f..%2f${foreign.name}/secret` }), 'NoSuchKey'],
    [
      'copy source without a key',
      as(whole, put(at('x'), { headers: [['x-amz-copy-source', `/${own.name}`]] })),
      'InvalidArgument',
    ],
    [
      'copy source that is not UTF-8',
      as(whole, put(at('x'), { headers: [['x-amz-copy-source', `/${own.name}/%ff`]] })),
      'InvalidArgument',
    ],
    ['method that S3 does not have', as(whole, { method: 'PATCH', path: at('a/1') }), 'MethodNotAllowed'],
    ['versioning', as(whole, put(`/${own.name}`, { query: [['versioning', '']] })), 'NotImplemented'],
    ['policy', as(whole, put(`/${own.name}`, { query: [['policy', '']] })), 'NotImplemented'],
    ['lifecycle', as(whole, put(`/${own.name}`, { query: [['lifecycle', '']] })), 'NotImplemented'],
    [
      'public ACL',
      as(whole, put(at('x'), { headers: [['x-amz-acl', 'public-read']] })),
      'AccessControlListNotSupported',
    ],
    [
      'server-side encryption',
      as(whole, put(at('x'), { headers: [['x-amz-server-side-encryption', 'AES256']] })),
      'NotImplemented',
    ],
    [
      'entities in XML',
      as(whole, {
        ...deletion(['a/1']),
        path: `/${own.name}`,
        body: '<!DOCTYPE d [<!ENTITY e "a/1">]><Delete><Object><Key>&e;</Key></Object></Delete>',
        headers: [['x-amz-checksum-crc32', 'AAAAAA==']],
      }),
      'BadDigest MalformedXML',
    ],
    [
      'batch delete without a digest',
      as(whole, { ...deletion(['a/1']), path: `/${own.name}`, headers: [] }),
      'InvalidRequest',
    ],
  ];
};

it('accepts nothing of what it must refuse', async () => {
  const corpus = cases();
  const accepted: string[] = [];
  for (const [what, run, codes] of corpus) {
    const { status, code } = await run();
    if (status < 400 || !codes.split(' ').includes(code ?? '')) accepted.push(`${what}: ${status} ${code}`);
  }
  console.log(`refusals: n = ${corpus.length}, ${accepted.length} accepted or answered otherwise`);
  expect(accepted).toEqual([]);
  expect(corpus.length).toBeGreaterThanOrEqual(60);
  // Nothing was changed on the way.
  expect([await useOf(app, own), await useOf(app, foreign), await useOf(app, small)]).toEqual([
    { bytes: 8, objects: 2 },
    { bytes: 4, objects: 1 },
    { bytes: 0, objects: 0 },
  ]);
  const { rows } = await sql<{ etag: string }>`select distinct etag from s3_object`.execute(app.ctx.db);
  expect(rows).toEqual([{ etag: createHash('md5').update('kept').digest('hex') }]);
});

it('refuses each key of a batch delete outside the prefix, and deletes the others', async () => {
  const answer = await ask(url, inA, { ...deletion(['b/1', 'a/9', '../b/1']), path: `/${own.name}` });
  expect(answer.status).toBe(200);
  expect(answer.body.match(/<Error>/g)).toHaveLength(2);
  expect(answer.body).toContain('<Deleted><Key>a/9</Key></Deleted>');
  expect(await useOf(app, own)).toEqual({ bytes: 8, objects: 2 });
});

it('accepts the same requests where nothing is wrong with them', async () => {
  expect(await visit(presigned())).toMatchObject({ status: 200, body: 'kept' });
  expect(await chunked()).toMatchObject({ status: 200 });
  expect(await ask(url, inA, { path: `/${own.name}`, query: [['prefix', 'a/']] })).toMatchObject({ status: 200 });
  expect(await ask(url, whole, { path: `/${own.name}/chunked` })).toMatchObject({ status: 200, body: '12345678' });
  expect(await ask(url, whole, { path: `/${own.name}/a/1`, region: 'eu-central-9' })).toMatchObject({ status: 200 });
});
