import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { timestampOf } from '@stagi/s3/signature.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { type Attack, type Attacker, openAttacker, requestBytes } from '../testing/standstill.ts';
import type { CreatedS3Key } from './keys.ts';
import { aBucket, aKey, s3Url, type TestBucket } from './testing/bucket.ts';
import { authorizations, preflights } from './testing/hostileHeaders.ts';
import { batchDeletions, fill, PART_LISTS, SETTINGS } from './testing/hostileXml.ts';
import { md5 } from './testing/refusals.ts';
import { ask, type RawRequest, signed } from './testing/signedRequest.ts';

let app: TestApp;
let url: string;
let owner: Person;
let bucket: TestBucket;
let key: CreatedS3Key;
let attacker: Attacker;

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
  url = s3Url(app);
  owner = await app.signUp();
  bucket = await aBucket(app, owner);
  key = await aKey(app, owner, bucket);
  attacker = openAttacker();
});
afterAll(async () => {
  await attacker?.close();
  await app?.close();
});

const asked = (what: string, raw: () => RawRequest, connections?: number): Attack => ({
  what,
  url,
  bytes: () => requestBytes(signed(url, key, raw())),
  connections,
});

const deletion = (xml: string): RawRequest => ({
  method: 'POST',
  path: `/${bucket.name}`,
  query: [['delete', '']],
  headers: [['content-md5', md5(xml)]],
  body: xml,
});

/** A visitor without any right; headers are in Latin-1. */
const visited = (what: string, target: string, headers: [string, string][], method = 'GET'): Attack => ({
  what,
  url,
  bytes: () => requestBytes({ method, target, headers: [['host', new URL(url).host], ...headers] }),
});

describe('the event loop of the S3 service goes on', () => {
  it('while something ordinary is asked', async () => {
    const small = (): RawRequest => deletion('<Delete><Object><Key>a</Key></Object></Delete>');
    await attacker.expectQuick(
      'S3, ordinary',
      [200, 403],
      [visited('a visitor', '/', []), asked('a batch deletion', small), asked('32 batch deletions at once', small, 32)],
    );
  });

  it('while XML is read', async () => {
    const attacks = Object.entries(batchDeletions()).map(([what, xml]) => asked(what, () => deletion(xml())));
    await attacker.expectQuick('batch deletions', [200, 400], attacks);
  });

  it('while XML of settings and parts is read, and many documents at once', async () => {
    const settings = Object.entries(SETTINGS).map(([what, xml]) =>
      asked(what, () => ({ method: 'PUT', path: `/${bucket.name}`, query: [['cors', '']], body: xml() })),
    );
    const parts = Object.entries(PART_LISTS).map(([what, xml]) =>
      asked(what, () => ({ method: 'POST', path: `/${bucket.name}/a`, query: [['uploadId', 'x']], body: xml() })),
    );
    const many = asked(
      '32 documents of 1 MiB at once',
      () => deletion(`<Delete>${fill('<a/>', 600_000)}</Delete>`),
      32,
    );
    await attacker.expectQuick('settings and parts', [400, 404], [...settings, ...parts, many]);
  });

  it('while bodies in chunks are read', async () => {
    const xml = `<Delete>${' '.repeat(500_000)}<Object><Key>a</Key></Object></Delete>`;
    const small = '<Delete><Object><Key>a</Key></Object></Delete>';
    const sum = (text: string): string => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(crc32(text));
      return bytes.toString('base64');
    };
    const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
    const name = 'x-amz-checksum-crc32:';
    const sha256 = createHash('sha256').update(xml).digest('base64');
    const trailed: [what: string, text: string, body: string, trailer?: string][] = [
      ['an ordinary trailer', small, `${chunk(small)}0\r\n${name}${sum(small)}\r\n\r\n`],
      ['spaces before a value', small, `${chunk(small)}0\r\n${name}${fill(' ', 4_000)}${sum(small)}\r\n\r\n`],
      ['spaces within a value', small, `${chunk(small)}0\r\n${name}x${fill(' ', 4_000)}x\r\n\r\n`],
      ['tabs and no-break spaces', small, `${chunk(small)}0\r\n${name}x${fill('\t\u00a0', 4_000)}x\r\n\r\n`],
      ['10 trailers of 4,000 spaces', small, `${chunk(small)}0\r\n${`a:x${fill(' ', 4_000)}x\r\n`.repeat(10)}\r\n`],
      ['colons', small, `${chunk(small)}0\r\n${fill(':', 4_000)}\r\n\r\n`],
      ['a name without an end', small, `${chunk(small)}0\r\n${fill('a-', 4_000)}\r\n\r\n`],
      ['carriage returns', small, `${chunk(small)}0\r\n${name}${fill('\r', 4_000)}\r\n\r\n`],
      ['a line of a megabyte', small, `${chunk(small)}0\r\n${name}${fill(' ', 1_000_000)}`],
      ['a chunk size of zeroes', small, `${fill('0', 1_000_000)}\r\n`],
      ['chunks of one byte', xml, `${[...xml].map(chunk).join('')}0\r\n${name}${sum(xml)}\r\n\r\n`],
      [
        'chunks of one byte, with SHA-256',
        xml,
        `${[...xml].map(chunk).join('')}0\r\nx-amz-checksum-sha256:${sha256}\r\n\r\n`,
        'x-amz-checksum-sha256',
      ],
    ];
    const attacks = trailed.map(([what, text, body, trailer = 'x-amz-checksum-crc32']) =>
      asked(what, () => ({
        ...deletion(body),
        payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        headers: [
          ['x-amz-trailer', trailer],
          ['x-amz-decoded-content-length', String(text.length)],
        ],
      })),
    );
    await attacker.expectQuick('chunks and trailers', [200, 400], attacks);
  });

  it('while headers of a visitor of S3 are read', async () => {
    const timestamp = timestampOf(new Date());
    const attacks = Object.entries(authorizations(key.accessKeyId, timestamp)).map(([what, [authorization, a]]) =>
      visited(what, `/${bucket.name}/%61`, [
        ['x-amz-date', timestamp],
        ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD'],
        ['authorization', authorization],
        ...(a === undefined ? [] : ([['a', a]] as [string, string][])),
      ]),
    );
    const credential = encodeURIComponent(`${key.accessKeyId}/${timestamp.slice(0, 8)}/us-east-1/s3/aws4_request`);
    const query = (signedHeaders: string) =>
      `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${credential}&X-Amz-Date=${timestamp}&X-Amz-Expires=3600&X-Amz-SignedHeaders=${signedHeaders}&X-Amz-Signature=${'0'.repeat(64)}`;
    const link = (what: string, target: string, headers: [string, string][] = []) =>
      visited(what, `/${bucket.name}/${target}`, headers);
    attacks.push(
      link('a link that signs one header again and again', `%61?${query(`host${fill(';a', 8_500)}`)}`, [
        ['a', `${fill('x ', 5_000)}x`],
      ]),
      link('a link with 5,000 parameters', `a?${fill('a&b&', 14_000)}${query('host')}`),
      link('a link with a long date', `a?${query('host').replace(timestamp, fill('2026', 14_000))}`),
      link('a date of brackets', 'a', [
        ['authorization', 'AWS4-HMAC-SHA256 a='],
        ['date', fill('(', 14_000)],
      ]),
      link('a key of 14,000 dots', fill('../', 14_000)),
    );
    await attacker.expectQuick('S3 authorization', [400, 403], attacks);
  });

  it('while preflights are held against long lists', async () => {
    const targets: [what: string, rules: string][] = [
      ['1,850 wildcards', rule('*', [...wildcards(1_850), 'h*'])],
      ['100 rules of 14 wildcards', rule('*', [...wildcards(14), 'h*']).repeat(100)],
      ['1,700 origins', rule(null, ['*'])],
      ['a pattern of 30,000 letters', rule('*', [`h${fill('x', 30_000)}*`])],
    ];
    const attacks: Attack[] = [];
    for (const [what, rules] of targets) {
      const target = await aBucket(app, owner);
      const { name } = target;
      const opened = await aKey(app, owner, target);
      const body = `<CORSConfiguration>${rules}</CORSConfiguration>`;
      const put = await ask(url, opened, { method: 'PUT', path: `/${name}`, query: [['cors', '']], body });
      expect(put, what).toMatchObject({ status: 200 });
      for (const [wanted, headers] of Object.entries(preflights()))
        attacks.push(
          visited(`${wanted}, against ${what}`, `/${name}/a`, preflight('https://evil.example', headers), 'OPTIONS'),
        );
      const origin = `https://${fill('a', 14_000)}.example`;
      attacks.push(visited(`a long origin, against ${what}`, `/${name}/a`, preflight(origin, 'h1'), 'OPTIONS'));
      attacks.push(visited(`a long origin of a GET, against ${what}`, `/${name}/a`, [['origin', origin]]));
    }
    await attacker.expectQuick('preflights', [200, 403], attacks);
  });

  it('and it still serves', async () => {
    const path = `/${bucket.name}/kept`;
    expect(await ask(url, key, { method: 'PUT', path, body: 'kept' })).toMatchObject({ status: 200 });
    expect(await ask(url, key, { path })).toMatchObject({ status: 200, body: 'kept' });
  });
});

const element = (name: string, texts: readonly string[]): string =>
  texts.map((text) => `<${name}>${text}</${name}>`).join('');
const wildcards = (count: number): string[] => Array.from({ length: count }, (_, n) => `x${n.toString(36)}*`);
const rule = (origin: string | null, headers: readonly string[]): string =>
  `<CORSRule>${element('AllowedMethod', ['GET'])}${element('AllowedOrigin', origin === null ? wildcards(1_700) : [origin])}${element('AllowedHeader', headers)}</CORSRule>`;
const preflight = (origin: string, headers: string): [string, string][] => [
  ['origin', origin],
  ['access-control-request-method', 'GET'],
  ['access-control-request-headers', headers],
];
