import { expect, it } from 'vitest';
import { decodeChunks } from './awsChunked.ts';
import { presignUrl } from './presign.ts';
import { sha256, signingKey, signRequest } from './signature.ts';

/** The examples that AWS publishes: AmazonS3/latest/API/sig-v4-header-based-auth.html, sigv4-query-string-auth.html and sigv4-streaming.html */
const ACCESS_KEY_ID = 'AKIAIOSFODNN7EXAMPLE';
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const TIMESTAMP = '20130524T000000Z';
const SCOPE = { date: '20130524', region: 'us-east-1' };
const HOST = 'examplebucket.s3.amazonaws.com';

it('signs a GET with a range as AWS publishes it', () => {
  const payloadHash = sha256('');
  const signature = signRequest(
    {
      method: 'GET',
      encodedPath: '/test.txt',
      query: [],
      headers: [
        ['host', HOST],
        ['range', 'bytes=0-9'],
        ['x-amz-content-sha256', payloadHash],
        ['x-amz-date', TIMESTAMP],
      ],
      payloadHash,
    },
    SECRET,
    SCOPE,
    TIMESTAMP,
  );
  expect(signature).toBe('f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41');
});

it('signs a listing as AWS publishes it', () => {
  const payloadHash = sha256('');
  const signature = signRequest(
    {
      method: 'GET',
      encodedPath: '/',
      query: [
        ['prefix', 'J'],
        ['max-keys', '2'],
      ],
      headers: [
        ['x-amz-date', TIMESTAMP],
        ['host', HOST],
        ['x-amz-content-sha256', payloadHash],
      ],
      payloadHash,
    },
    SECRET,
    SCOPE,
    TIMESTAMP,
  );
  expect(signature).toBe('34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
});

it('encodes key and query of a presigned URL', () => {
  const url = presignUrl({
    origin: 'http://127.0.0.1:1',
    bucket: 'bucket',
    key: 'a b/+ü',
    method: 'PUT',
    query: { partNumber: '1' },
    accessKeyId: ACCESS_KEY_ID,
    secretAccessKey: SECRET,
    region: 'us-east-1',
    expiresInSeconds: 60,
    now: new Date('2013-05-24T00:00:00Z'),
  });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:1\/bucket\/a%20b\/%2B%C3%BC\?partNumber=1&X-Amz-Algorithm=/);
});

const SEED = '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9';
const CHUNKS = [
  `10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n${'a'.repeat(65_536)}\r\n`,
  `400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n${'a'.repeat(1_024)}\r\n`,
  '0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n',
].join('');

async function decoded(text: string, pieceBytes: number): Promise<string> {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < text.length; at += pieceBytes) yield Buffer.from(text.slice(at, at + pieceBytes));
  }
  const seed = { signature: SEED, signingKey: signingKey(SECRET, SCOPE), timestamp: TIMESTAMP, scope: SCOPE };
  const parts: Buffer[] = [];
  for await (const part of decodeChunks(pieces(), { seed, hasTrailer: false, trailers: new Map() })) parts.push(part);
  return Buffer.concat(parts).toString();
}

it.each([1_000_000, 4_096, 7])('decodes the signed chunks that AWS publishes, in pieces of %i bytes', async (bytes) => {
  expect(await decoded(CHUNKS, bytes)).toBe('a'.repeat(66_560));
});

it('refuses signed chunks of which a byte was changed, left out or added', async () => {
  for (const text of [
    CHUNKS.replace('aaaa', 'aaab'),
    CHUNKS.slice(0, -200),
    `${CHUNKS}x`,
    CHUNKS.replace('400;', '3ff;'),
  ])
    await expect(decoded(text, 4_096)).rejects.toThrow();
});
