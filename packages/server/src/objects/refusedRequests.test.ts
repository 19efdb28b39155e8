import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CreatedS3Key } from './keys.ts';
import { counted, useOf } from './testing/bucket.ts';
import { aTarget, deletion, expectAllRefused, put, type Refusal, type Target } from './testing/refusals.ts';
import { ask, type RawAnswer, type RawRequest } from './testing/signedRequest.ts';

let target: Target;
beforeAll(async () => {
  target = await aTarget();
});
afterAll(() => target?.app.close());

const refusals = (): Refusal[] => {
  const { url, own, foreign, small, whole, reader, inA, tight } = target;
  const at = (path: string): string => `/${own.name}/${path}`;
  const as = (key: CreatedS3Key, raw: RawRequest) => (): Promise<RawAnswer> => ask(url, key, raw);
  return [
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
    ['over quota', as(tight, put(`/${small.name}/big`, { body: 'x'.repeat(10_001) })), 'QuotaExceeded'],
    [
      'over quota, part',
      async () => {
        const made = await ask(url, tight, { method: 'POST', path: `/${small.name}/big`, query: [['uploads', '']] });
        const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(made.body)![1]!;
        const refused = await ask(
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
        const query: [string, string][] = [['uploadId', uploadId]];
        await ask(url, tight, { method: 'DELETE', path: `/${small.name}/big`, query });
        return refused;
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

it('refuses what a key does not open, and requests that make no sense', async () => {
  const corpus = refusals();
  expect(corpus.length).toBeGreaterThanOrEqual(45);
  await expectAllRefused(target, 'rights and requests', corpus);
});

it('refuses each key of a batch delete outside the prefix, and deletes the others', async () => {
  const { app, url, own, inA } = target;
  const answer = await ask(url, inA, { ...deletion(['b/1', 'a/9', '../b/1']), path: `/${own.name}` });
  expect(answer.status).toBe(200);
  expect(answer.body.match(/<Error>/g)).toHaveLength(2);
  expect(answer.body).toContain('<Deleted><Key>a/9</Key></Deleted>');
  expect(await useOf(app, own)).toEqual({ bytes: 2 * counted(4), objects: 2 });
});

it('accepts a listing within the prefix of a key', async () => {
  const { url, own, inA } = target;
  expect(await ask(url, inA, { path: `/${own.name}`, query: [['prefix', 'a/']] })).toMatchObject({ status: 200 });
});
