import { createHmac } from 'node:crypto';
import { scopeText, sha256, signingKey } from '@stagi/s3/signature.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CreatedS3Key } from './keys.ts';
import { aTarget, expectAllRefused, md5, put, type Refusal, type Target, visit } from './testing/refusals.ts';
import { ask, type RawAnswer, type RawRequest, send, signed } from './testing/signedRequest.ts';

const MINUTE = 60_000;
const ZEROES = '0'.repeat(64);

let target: Target;
beforeAll(async () => {
  target = await aTarget();
});
afterAll(() => target?.app.close());

/** A put of 8 bytes in one signed chunk, and what is done to it on the way. */
async function chunked(
  { url, own, whole }: Target,
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

const refusals = (): Refusal[] => {
  const { url, own, whole } = target;
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
    ['no signature', () => visit(target, `${url}${at('a/1')}`), 'AccessDenied'],
    ['no signature, put', () => visit(target, `${url}${at('a/1')}`, 'PUT'), 'AccessDenied'],
    ['no signature, list', () => visit(target, `${url}/${own.name}?list-type=2`), 'AccessDenied'],
    [
      'signature of version 2',
      () => visit(target, `${url}${at('a/1')}`, 'GET', [['authorization', 'AWS a:b']]),
      'InvalidRequest',
    ],
    [
      'empty authorization',
      () => visit(target, `${url}${at('a/1')}`, 'GET', [['authorization', '']]),
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
    ['host changed', as(whole, { path: at('a/1'), tamper: swap('host', 'localhost') }), 'SignatureDoesNotMatch'],
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
    ['chunk signature changed', () => chunked(target, { chunk: ZEROES }), 'SignatureDoesNotMatch'],
    ['chunk data changed', () => chunked(target, { data: '12345679' }), 'SignatureDoesNotMatch'],
    ['last chunk signature changed', () => chunked(target, { last: ZEROES }), 'SignatureDoesNotMatch'],
    ['chunk size that is none', () => chunked(target, { size: '-8' }), 'InvalidRequest'],
    ['chunk size huge', () => chunked(target, { size: 'ffffffff' }), 'InvalidRequest'],
    ['chunks shorter than declared', () => chunked(target, { decoded: '9' }), 'IncompleteBody'],
    ['chunks longer than declared', () => chunked(target, { decoded: '7' }), 'IncompleteBody'],
    [
      'trailer without signature',
      () => chunked(target, { trailer: 'x-amz-checksum-crc32:mu3qYQ==\r\n' }),
      'SignatureDoesNotMatch IncompleteBody',
    ],
    [
      'trailer with a wrong signature',
      () => chunked(target, { trailer: `x-amz-checksum-crc32:mu3qYQ==\r\nx-amz-trailer-signature:${ZEROES}\r\n` }),
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
  ];
};

it('refuses requests whose signature, date or payload is not what was signed', async () => {
  const corpus = refusals();
  expect(corpus.length).toBeGreaterThanOrEqual(48);
  await expectAllRefused(target, 'signatures and payloads', corpus);
});

it('accepts the same requests where nothing is wrong with them', async () => {
  const { url, own, whole } = target;
  expect(await chunked(target)).toMatchObject({ status: 200 });
  expect(await ask(url, whole, { path: `/${own.name}/chunked` })).toMatchObject({ status: 200, body: '12345678' });
  expect(await ask(url, whole, { path: `/${own.name}/a/1`, region: 'eu-central-9' })).toMatchObject({ status: 200 });
});
