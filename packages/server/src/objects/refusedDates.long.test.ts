import { freePort } from '@stagi/contract/testing/freePort.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { createS3Service, type S3Service } from '@stagi/s3/service.ts';
import { ALGORITHM, scopeText, signRequest, timestampOf, uriEncode } from '@stagi/s3/signature.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenAt } from '../http/listenAt.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { createBackend } from './backend.ts';
import { createConnectionSlots } from './connectionSlots.ts';
import type { CreatedS3Key } from './keys.ts';
import { aBucket, aKey, s3Url } from './testing/bucket.ts';
import { LENIENT, NO_DATES, NOON, PADDED } from './testing/noDates.ts';
import { ask, type RawAnswer, send } from './testing/signedRequest.ts';

let app: TestApp;
let key: CreatedS3Key;
let path: string;
/** The S3 service over the same keys and objects, at a time of the test's choice. */
let service: S3Service;
let origin: string;
let now = new Date();

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
  const owner = await app.signUp();
  const bucket = await aBucket(app, owner);
  key = await aKey(app, owner, bucket);
  path = `/${bucket.name}/secret`;
  expect((await ask(s3Url(app), key, { method: 'PUT', path, body: 'kept' })).status).toBe(200);
  service = createS3Service({
    strictTransport: null,
    backend: createBackend(app.ctx),
    listenAt,
    slots: createConnectionSlots(app.ctx),
    virtualHosts: () => [],
    refusalOf: () => null,
    allowedOrigins: [],
    log: app.ctx.log,
    now: () => now,
  });
  const port = await freePort();
  await service.listen('127.0.0.1', port);
  origin = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await service?.close();
  await app?.close();
});

/** The date of the scope must be the beginning of the timestamp, where that can be. */
const scopeOf = (timestamp: string) => ({
  date: /^\d{8}/.exec(timestamp)?.[0] ?? '20260301',
  region: 'us-east-1',
});
const host = (): [string, string] => ['host', new URL(origin).host];

/** With a link that is signed as it says. */
function follow(timestamp: string, expires = '604800'): Promise<RawAnswer> {
  const query: [string, string][] = [
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${key.accessKeyId}/${scopeText(scopeOf(timestamp))}`],
    ['X-Amz-Date', timestamp],
    ['X-Amz-Expires', expires],
    ['X-Amz-SignedHeaders', 'host'],
  ];
  const asked = { method: 'GET', encodedPath: path, query, headers: [host()], payloadHash: 'UNSIGNED-PAYLOAD' };
  const signature = signRequest(asked, key.secretAccessKey, scopeOf(timestamp), timestamp);
  const text = [...query, ['X-Amz-Signature', signature] as const]
    .map((pair) => pair.map(uriEncode).join('='))
    .join('&');
  return send(origin, { method: 'GET', target: `${path}?${text}`, headers: [host()], body: Buffer.alloc(0) });
}

/** With these headers of time, signed for a timestamp: as they are written, or as a lenient reader takes them. */
function show(times: [name: string, value: string][], timestamp: string): Promise<RawAnswer> {
  const headers: [string, string][] = [host(), ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD'], ...times];
  // Repeated headers are signed as one.
  const joined = new Map<string, string>();
  for (const [name, value] of headers) joined.set(name, joined.has(name) ? `${joined.get(name)},${value}` : value);
  const signature = signRequest(
    { method: 'GET', encodedPath: path, query: [], headers: [...joined], payloadHash: 'UNSIGNED-PAYLOAD' },
    key.secretAccessKey,
    scopeOf(timestamp),
    timestamp,
  );
  const names = [...joined.keys()].toSorted().join(';');
  const authorization = `${ALGORITHM} Credential=${key.accessKeyId}/${scopeText(scopeOf(timestamp))}, SignedHeaders=${names}, Signature=${signature}`;
  // As HTTP carries them: bytes.
  const wire = headers.map(([name, value]): [string, string] => [name, Buffer.from(value).toString('latin1')]);
  return send(origin, {
    method: 'GET',
    target: path,
    headers: [...wire, ['authorization', authorization]],
    body: Buffer.alloc(0),
  });
}

function problemOf(what: string, { status, body }: RawAnswer): string[] {
  return status >= 400 && status < 500 && !body.includes('kept') ? [] : [`${what}: ${status} ${body.slice(0, 80)}`];
}

describe('a date that is none', () => {
  it('opens nothing in a link', async () => {
    const problems: string[] = [];
    for (const [what, timestamp, at = NOON] of [...NO_DATES, ...PADDED]) {
      now = new Date(at);
      problems.push(...problemOf(what, await follow(timestamp)));
    }
    console.log(`links of no date: n = ${NO_DATES.length + PADDED.length}, ${problems.length} not refused`);
    expect(problems).toEqual([]);
  });

  it('opens nothing in x-amz-date or Date', async () => {
    const problems: string[] = [];
    let n = 0;
    for (const [what, text, at = NOON] of NO_DATES) {
      now = new Date(at);
      // The date that a lenient reader would find in it.
      for (const timestamp of new Set([text, timestampOf(now)]))
        for (const name of ['x-amz-date', 'date']) {
          problems.push(...problemOf(`${what} in ${name}`, await show([[name, text]], timestamp)));
          n += 1;
        }
    }
    console.log(`headers of no date: n = ${n}, ${problems.length} not refused`);
    expect(problems).toEqual([]);
  });

  it('opens nothing where only a lenient reader finds a date', async () => {
    const problems: string[] = [];
    for (const [text, at] of LENIENT)
      for (const name of ['x-amz-date', 'date']) {
        now = new Date(at);
        problems.push(...problemOf(`${text} in ${name}`, await show([[name, text]], timestampOf(now))));
      }
    console.log(`lenient dates: n = ${2 * LENIENT.length}, ${problems.length} not refused`);
    expect(problems).toEqual([]);
  });

  it('opens nothing beside one that is', async () => {
    now = new Date(NOON);
    const good = timestampOf(now);
    const inDate = 'Sun, 01 Mar 2026 12:00:00 GMT';
    const problems: string[] = [];
    for (const bad of ['20261399T000000Z', '20260229T120000Z', '20260301T240000Z', 'never', ''])
      for (const times of [
        [
          ['x-amz-date', bad],
          ['date', inDate],
        ],
        [
          ['x-amz-date', good],
          ['x-amz-date', bad],
        ],
        [
          ['x-amz-date', bad],
          ['x-amz-date', good],
        ],
      ] as [string, string][][])
        for (const timestamp of [bad, good]) problems.push(...problemOf(`${times}`, await show(times, timestamp)));
    expect(problems).toEqual([]);
    // S3's own header comes first, whatever the other says.
    expect(
      await show(
        [
          ['x-amz-date', good],
          ['date', 'never'],
        ],
        good,
      ),
    ).toMatchObject({ status: 200, body: 'kept' });
  });
});

describe('a date', () => {
  it('opens what it is signed for, and no longer than it says', async () => {
    for (const at of [
      '2024-02-29T12:00:00Z',
      '2000-02-29T00:00:00Z',
      '2026-03-01T00:00:00Z',
      '2026-02-28T23:59:59Z',
      '2025-12-31T23:59:59Z',
    ]) {
      const start = new Date(at).getTime();
      const timestamp = timestampOf(new Date(start));
      const statuses: number[] = [];
      for (const later of [0, 60_000, 60_001, 900_000, 900_001, -900_000, -900_001]) {
        now = new Date(start + later);
        statuses.push(
          (await follow(timestamp, '60')).status,
          (await show([['x-amz-date', timestamp]], timestamp)).status,
        );
      }
      expect(statuses, at).toEqual([200, 200, 200, 200, 403, 200, 403, 200, 403, 403, 200, 200, 403, 403]);
      now = new Date(start);
      expect(await show([['date', now.toUTCString()]], timestamp), at).toMatchObject({ status: 200, body: 'kept' });
    }
  });

  it('is told from what is none by the calendar', async () => {
    const seed = newSeed();
    const random = seeded(seed);
    const two = (most: number): string => String(random.between(0, most)).padStart(2, '0');
    let real = 0;
    const count = 300;
    for (let n = 0; n < count; n += 1) {
      const [year, month, day, hour, minute, second] = [
        random.between(1990, 2030),
        two(13),
        two(32),
        two(24),
        two(60),
        two(60),
      ];
      const lengths = [
        31,
        year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28,
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
      ];
      const isReal =
        Number(day) >= 1 &&
        Number(day) <= (lengths[Number(month) - 1] ?? 0) &&
        Number(hour) < 24 &&
        Number(minute) < 60 &&
        Number(second) < 60;
      const timestamp = `${year}${month}${day}T${hour}${minute}${second}Z`;
      // The time that a calendar without ends would give it.
      now = new Date(Date.UTC(year, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)));
      for (const answer of [await follow(timestamp), await show([['x-amz-date', timestamp]], timestamp)])
        expect([timestamp, seed, answer.status === 200]).toEqual([timestamp, seed, isReal]);
      real += Number(isReal);
    }
    console.log(`random dates: seed ${seed}, n = ${count}, ${real} of them real`);
  });
});
