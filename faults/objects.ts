import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import {
  aBucket,
  aKey,
  blobsOf,
  counted,
  s3Client,
  type TestBucket,
  useOf,
} from '@stagi/server/src/objects/testing/bucket.ts';
import { type S3Role, spawnS3Role } from '@stagi/server/src/objects/testing/s3Role.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { sql } from 'kysely';
import type { Random } from './random.ts';
import { until } from './until.ts';

const PUT_WRITERS = 8;
const MULTIPART_WRITERS = 2;
/** Each writer has so many keys, so that most puts replace an object. */
const KEYS = 15;
const PART_BYTES = 5 * 1024 * 1024;
const DELETE_SHARE = 0.1;

export interface ObjectsPlan {
  puts: number;
  multiparts: number;
}

export interface ObjectsReport {
  kills: number;
  /** Acknowledged ones. */
  puts: number;
  multiparts: number;
  deletes: number;
  /** Requests that a kill left without an answer. */
  unanswered: number;
  /** Objects at the end, all of which were read and compared. */
  objects: number;
  bytes: number;
  /** The same as the bucket counts them: each takes some place, however small. */
  counted: number;
  wrong: string[];
}

/** What a key may hold: the hash that was acknowledged last (null: no object), or one whose answer did not come. */
interface Expected {
  acknowledged: string | null;
  unanswered: Set<string | null>;
}

/** Kills the S3 service again and again while writers put objects, whole and in parts, and delete some. */
export async function runObjects(
  plan: ObjectsPlan,
  random: Random,
  say: (line: string) => void,
): Promise<ObjectsReport> {
  const app = await startTestApp({}, { role: 'api' });
  let role: S3Role | null = null;
  try {
    const owner = await app.signUp();
    const bucket = await aBucket(app, owner, { gb: 100 });
    role = await spawnS3Role(app);
    const client = s3Client(role.url, await aKey(app, owner, bucket));
    const report: ObjectsReport = {
      kills: 0,
      puts: 0,
      multiparts: 0,
      deletes: 0,
      unanswered: 0,
      objects: 0,
      bytes: 0,
      counted: 0,
      wrong: [],
    };
    const expected = new Map<string, Expected>();
    await writeWhileKilled({ plan, random, client, role, bucket, expected, report });
    say(`objects: ${report.kills} kills, ${report.puts} puts, ${report.multiparts} multipart uploads acknowledged`);

    await compareUse(app, bucket, report, 'after the last kill');
    await role.start();
    await abortUploads(client, bucket);
    await until('what the killed processes left is removed', async () => {
      const { writing = 0, doomed = 0 } = await blobsOf(app, bucket);
      return writing + doomed === 0;
    });
    await compareObjects(client, bucket, expected, report);
    await compareUse(app, bucket, report, 'after the repair');
    await compareDisk(app, report);
    return report;
  } finally {
    await role?.kill('SIGKILL');
    await app.close();
  }
}

interface Run {
  plan: ObjectsPlan;
  random: Random;
  client: S3Client;
  role: S3Role;
  bucket: TestBucket;
  expected: Map<string, Expected>;
  report: ObjectsReport;
}

async function writeWhileKilled(run: Run): Promise<void> {
  const { random, role, report } = run;
  let up = Promise.resolve();
  let finished = false;
  const writers = Promise.all([
    ...Array.from({ length: PUT_WRITERS }, (_, number) => writeObjects(run, `put-${number}`, () => up)),
    ...Array.from({ length: MULTIPART_WRITERS }, (_, number) => writeUploads(run, `multipart-${number}`, () => up)),
  ]).finally(() => {
    finished = true;
  });
  // A failure of a writer ends the loop below, and is thrown at its end.
  writers.catch(() => {});
  while (!finished) {
    await pause(random.between(200, 1_500));
    const back = Promise.withResolvers<void>();
    up = back.promise;
    await role.kill('SIGKILL');
    report.kills += 1;
    await role.start();
    back.resolve();
  }
  await writers;
  await role.kill('SIGKILL');
  report.kills += 1;
}

async function writeObjects(run: Run, name: string, up: () => Promise<void>): Promise<void> {
  const { plan, random, client, bucket, report } = run;
  // On a quick machine all may be written before a kill meets a request.
  while (report.puts < plan.puts || report.unanswered === 0) {
    await up();
    const Key = `${name}/${random.between(1, KEYS)}`;
    if (random() < DELETE_SHARE) {
      if (await attempt(run, Key, null, () => client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key }))))
        report.deletes += 1;
      continue;
    }
    // Mostly small ones, as most objects are, and some that a kill meets in the middle.
    const Body = randomBytes(random() < 0.8 ? random.between(0, 50_000) : random.between(1_000_000, 4_000_000));
    const put = new PutObjectCommand({ Bucket: bucket.name, Key, Body });
    if (await attempt(run, Key, sha256(Body), () => client.send(put))) report.puts += 1;
  }
}

async function writeUploads(run: Run, name: string, up: () => Promise<void>): Promise<void> {
  const { plan, random, client, bucket, report } = run;
  while (report.multiparts < plan.multiparts || report.unanswered === 0) {
    await up();
    const target = { Bucket: bucket.name, Key: `${name}/${random.between(1, 4)}` };
    const bodies = [randomBytes(PART_BYTES), randomBytes(random.between(1, PART_BYTES))];
    const parts: { PartNumber: number; ETag: string | undefined }[] = [];
    let UploadId: string | undefined;
    try {
      ({ UploadId } = await client.send(new CreateMultipartUploadCommand(target)));
      for (const [index, Body] of bodies.entries()) {
        const part = { PartNumber: index + 1 };
        const { ETag } = await client.send(new UploadPartCommand({ ...target, ...part, UploadId, Body }));
        parts.push({ ...part, ETag });
      }
    } catch (error) {
      requireKilled(error);
      report.unanswered += 1;
      continue;
    }
    const complete = new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts: parts } });
    if (await attempt(run, target.Key, sha256(Buffer.concat(bodies)), () => client.send(complete)))
      report.multiparts += 1;
  }
}

/** Whether it was acknowledged. Keys belong to one writer each, so attempts of a key follow one another. */
async function attempt(
  { expected, report }: Run,
  key: string,
  hash: string | null,
  send: () => Promise<unknown>,
): Promise<boolean> {
  const state = expected.get(key) ?? { acknowledged: null, unanswered: new Set() };
  expected.set(key, state);
  try {
    await send();
  } catch (error) {
    requireKilled(error);
    state.unanswered.add(hash);
    report.unanswered += 1;
    return false;
  }
  state.acknowledged = hash;
  state.unanswered.clear();
  return true;
}

/** A killed service breaks connections; any answer of it is an error of this run. */
function requireKilled(error: unknown): void {
  const { code, name, $metadata } = error as NodeJS.ErrnoException & { $metadata?: { httpStatusCode?: number } };
  if ($metadata?.httpStatusCode !== undefined) throw error;
  if (['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(code ?? '') || name === 'TimeoutError') return;
  throw error;
}

async function abortUploads(client: S3Client, { name: Bucket }: TestBucket): Promise<void> {
  const { Uploads = [], IsTruncated } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  for (const { Key, UploadId } of Uploads)
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  if (IsTruncated) await abortUploads(client, { name: Bucket } as TestBucket);
}

async function compareObjects(
  client: S3Client,
  { name: Bucket }: TestBucket,
  expected: ReadonlyMap<string, Expected>,
  report: ObjectsReport,
): Promise<void> {
  const found = new Set<string>();
  for await (const page of paginateListObjectsV2({ client, pageSize: 100 }, { Bucket })) {
    for (const { Key, Size } of page.Contents ?? []) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      const { hash, size } = await hashOf(Body as Readable);
      const state = expected.get(Key!);
      if (size !== Size) report.wrong.push(`${Key} is listed with ${Size} bytes and has ${size}`);
      if (!state || (state.acknowledged !== hash && !state.unanswered.has(hash)))
        report.wrong.push(`${Key} holds bytes that nobody put there`);
      found.add(Key!);
      report.objects += 1;
      report.bytes += size;
      report.counted += counted(size, Key!);
    }
  }
  for (const [key, { acknowledged, unanswered }] of expected)
    if (acknowledged !== null && !found.has(key) && !unanswered.has(null))
      report.wrong.push(`${key} was acknowledged and is gone`);
}

/** The use that the bucket states against the sum of its rows. */
async function compareUse(app: TestApp, bucket: TestBucket, report: ObjectsReport, when: string): Promise<void> {
  const use = await useOf(app, bucket);
  const { rows } = await sql<{ bytes: number; objects: number }>`select
    ((select coalesce(sum(counted), 0) from s3_object where bucket_id = ${bucket.id})
      + (select coalesce(sum(counted), 0) from s3_upload where bucket_id = ${bucket.id})
      + (select coalesce(sum(s3_part.counted), 0) from s3_part join s3_upload on s3_upload.id = upload_id
        where bucket_id = ${bucket.id}))::float8 as bytes,
    (select count(*) from s3_object where bucket_id = ${bucket.id})::float8 as objects`.execute(app.ctx.db);
  const counted = rows[0]!;
  if (use.bytes !== counted.bytes || use.objects !== counted.objects)
    report.wrong.push(`${when} the use is ${JSON.stringify(use)}, its rows say ${JSON.stringify(counted)}`);
  if (when === 'after the repair' && (use.bytes !== report.counted || use.objects !== report.objects))
    report.wrong.push(`${when} the use is ${JSON.stringify(use)}, but what was read counts ${report.counted}`);
}

async function compareDisk({ ctx }: TestApp, report: ObjectsReport): Promise<void> {
  let [bytes, blobs] = [0, 0];
  for await (const { size } of ctx.blobs.get('local')!.list('objects/')) {
    bytes += size;
    blobs += 1;
  }
  if (bytes !== report.bytes) report.wrong.push(`${blobs} blobs on the disk have ${bytes} bytes, not ${report.bytes}`);
}

async function hashOf(body: Readable): Promise<{ hash: string; size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  body.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    size += chunk.length;
  });
  await once(body, 'end');
  return { hash: hash.digest('hex'), size };
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Prints the figures and answers what failed. */
export function reportObjects(plan: ObjectsPlan, report: ObjectsReport): string[] {
  const { kills, puts, multiparts, deletes, unanswered, objects, bytes, wrong } = report;
  console.log(
    `objects: n = ${kills} kills during ${puts} acknowledged puts, ${multiparts} multipart uploads and ${deletes} deletes, ` +
      `${unanswered} requests without an answer; ${objects} objects of ${bytes} bytes read back, ${wrong.length} wrong`,
  );
  const failures = [...wrong];
  if (kills < 2) failures.push('the service was hardly killed');
  if (puts < plan.puts || multiparts < plan.multiparts) failures.push('too little was written');
  if (unanswered === 0) failures.push('no kill met a request');
  if (objects === 0) failures.push('no object was compared');
  return failures;
}
