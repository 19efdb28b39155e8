/**
 * The S3 service against what the machine can do, in one run: an 8 MB put against copying the same bytes to the disk and
 * through sha256sum and md5sum, a get against nginx with the same file, the last page of a listing of 1,000,000 keys
 * against the first, and the memory during a 5 GB upload. `--gb=` changes the last.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { presignUrl } from '@stagi/s3/presign.ts';
import { ALGORITHM, encodeKey, scopeText, signRequest, timestampOf } from '@stagi/s3/signature.ts';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { openPool } from '@stagi/server/src/db/pool.ts';
import type { Db } from '@stagi/server/src/db/schema.ts';
import { createBucket } from '@stagi/server/src/objects/buckets.ts';
import { type CreatedS3Key, createS3Key } from '@stagi/server/src/objects/keys.ts';
import { createSecretBox, loadSecretKey } from '@stagi/server/src/secrets/secretBox.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { sql } from 'kysely';
import { report } from './report.ts';

const MB = 1_000_000;
const SIZE = 8 * MB;
const ROUNDS = 25;
const LISTED = 1_000_000;
const PAGE_ROUNDS = 40;
/** What memory may grow by after the first tenth of an upload. */
const GROWTH_MB = 64;
const NGINX = '/usr/sbin/nginx';
const UPLOAD_GB = Number(process.argv.find((argument) => argument.startsWith('--gb='))?.slice(5) ?? 5);

const agent = new Agent({ keepAlive: true });
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'stagi-s3-bench-'));
const platform = await spawnPlatform({ LOG_LEVEL: 'warn' });
const { url: databaseUrl } = await startEmbeddedPostgres({
  dataDir: join(platform.dataDir, 'postgres'),
  log: { info: () => {}, warn: console.warn },
});
const pool = openPool(databaseUrl);
try {
  const { bucket, key } = await openBucket(pool.db, platform);
  const bytes = randomBytes(SIZE);
  const file = join(folder, 'bytes');
  writeFileSync(file, bytes);
  await measurePut(bucket, key, bytes, file);
  await measureGet(bucket, key, bytes);
  await measureListing(pool.db, bucket, key);
  await measureMemory(bucket, key, platform.pid);
} finally {
  await pool.close();
  agent.destroy();
  await platform.remove();
  rmSync(folder, { recursive: true });
}

async function openBucket(db: Db, { dataDir }: Platform) {
  const name = `bench-${randomUUID().slice(0, 8)}`;
  const workspace = await db.insertInto('workspace').values({ name }).returning('id').executeTakeFirstOrThrow();
  const workspaceId = workspace.id;
  const quotaBytes = 100n * 10n ** 9n;
  const id = (await createBucket(db, { name, workspaceId, location: 'local', quotaBytes, isPlatforms: false }))!;
  const secrets = createSecretBox(loadSecretKey(null, dataDir));
  const key = await createS3Key({ secrets }, db, {
    purpose: 'person',
    workspaceId,
    bucketId: id,
    title: 'bench',
    mode: 'read-write',
    prefix: '',
    madeBy: null,
    madeWith: null,
    expiresAt: null,
  });
  return { bucket: { id, name }, key };
}

type Bucket = { id: number; name: string };

/** MB/s of each, in turns. */
async function measurePut(bucket: Bucket, key: CreatedS3Key, bytes: Buffer, file: string): Promise<void> {
  const [ours, baseline]: [number[], number[]] = [[], []];
  // `tee` writes the file while both hashes are computed beside it, then the file is flushed.
  const copy = `tee >(sha256sum >&2) >(md5sum >&2) < ${file} > ${file}.copy; sync ${file}.copy; wait`;
  const hash = createHash('sha256').update(bytes).digest('hex');
  for (let round = 0; round <= ROUNDS; round += 1) {
    const name = `put/${round}`;
    const put = signed('PUT', bucket, name, key, hash);
    const our = await timed(async () => {
      const response = await send('PUT', put.url, { ...put.headers, 'content-length': String(SIZE) }, [bytes]);
      await drain(response, 200);
    });
    const their = await timed(() => run('bash', ['-c', copy]));
    // The first round warms both up.
    if (round > 0) {
      ours.push(SIZE / MB / our);
      baseline.push(SIZE / MB / their);
    }
  }
  report('S3: put of 8 MB, flushed, against tee into sha256sum and md5sum plus sync', ours, baseline, {
    unit: 'MB/s',
    goal: '≥ 0.4 ×',
    ok: (ratio) => ratio >= 0.4,
  });
}

async function measureGet(bucket: Bucket, key: CreatedS3Key, bytes: Buffer): Promise<void> {
  if (!existsSync(NGINX)) {
    console.log(`S3: get against nginx: not run, ${NGINX} is not installed`);
    return;
  }
  const put = signed('PUT', bucket, 'get', key, createHash('sha256').update(bytes).digest('hex'));
  await drain(await send('PUT', put.url, { ...put.headers, 'content-length': String(SIZE) }, [bytes]), 200);
  const nginx = await startNginx(bytes);
  try {
    const url = presigned('GET', bucket, 'get', key);
    const [ours, baseline]: [number[], number[]] = [[], []];
    const get = async (from: string): Promise<number> => {
      const seconds = await timed(async () => {
        const size = await drain(await send('GET', from, {}, []), 200);
        if (size !== SIZE) throw new Error(`${from} answered ${size} bytes`);
      });
      return SIZE / MB / seconds;
    };
    for (let round = 0; round <= ROUNDS; round += 1) {
      const [our, their] = [await get(url), await get(nginx.url)];
      if (round > 0) {
        ours.push(our);
        baseline.push(their);
      }
    }
    report('S3: get of 8 MB against nginx', ours, baseline, {
      unit: 'MB/s',
      goal: '≥ 0.3 ×',
      ok: (ratio) => ratio >= 0.3,
    });
  } finally {
    await nginx.stop();
  }
}

/** Serves the same bytes from the same disk, as Debian's nginx does. */
async function startNginx(bytes: Buffer): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const root = join(folder, 'nginx');
  mkdirSync(root);
  writeFileSync(join(root, 'file'), bytes);
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
     events {}
     http { access_log off; sendfile on; tcp_nopush on;
       client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
       uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
       server { listen 127.0.0.1:${port}; root ${root}; } }`,
  );
  const child = spawn(NGINX, ['-c', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}/file`;
  for (const deadline = Date.now() + 10_000; !(await fetch(url).catch(() => null))?.ok; await pause(50)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('nginx did not start');
  }
  return {
    url,
    async stop() {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
    },
  };
}

async function measureListing(db: Db, bucket: Bucket, key: CreatedS3Key): Promise<void> {
  for (let at = 0; at < LISTED; at += 100_000)
    await sql`insert into s3_object (bucket_id, key, size, etag, blobs, blob_sizes)
      select ${bucket.id}, convert_to('list/' || lpad(n::text, 8, '0') || '.txt', 'UTF8'), 0, md5(n::text), '{}', '{}'
      from generate_series(${sql.lit(at + 1)}, ${sql.lit(at + 100_000)}) n`.execute(db);
  await sql`update s3_bucket set object_count = object_count + ${LISTED} where id = ${bucket.id}`.execute(db);
  await sql`analyze s3_object`.execute(db);
  const page = async (after: string, expected: number): Promise<number> => {
    const url = presigned('GET', bucket, '', key, { 'list-type': '2', prefix: 'list/', 'start-after': after });
    let text = '';
    const seconds = await timed(async () => {
      const response = await send('GET', url, {}, []);
      for await (const chunk of response) text += chunk;
      if (response.statusCode !== 200) throw new Error(`listing: ${response.statusCode} ${text.slice(0, 500)}`);
    });
    const count = text.split('<Key>').length - 1;
    if (count !== expected) throw new Error(`a page after ${after} has ${count} keys`);
    return seconds * 1_000;
  };
  const last = `list/${String(LISTED - 1_000).padStart(8, '0')}.txt`;
  const [first, end]: [number[], number[]] = [[], []];
  for (let round = 0; round <= PAGE_ROUNDS; round += 1) {
    const times = [await page('', 1_000), await page(last, 1_000)] as const;
    if (round > 2) {
      first.push(times[0]);
      end.push(times[1]);
    }
  }
  report('S3: the last page of a listing of 1,000,000 keys against the first', end, first, {
    unit: 'ms',
    goal: '≤ 1.5 ×',
    ok: (ratio) => ratio <= 1.5,
  });
}

async function measureMemory(bucket: Bucket, key: CreatedS3Key, pid: number): Promise<void> {
  const size = UPLOAD_GB * 1_000 * MB;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < size * 1.5) {
    console.log(`S3: memory during an upload: not run, the disk has no room for ${UPLOAD_GB} GB`);
    return;
  }
  const chunk = randomBytes(MB);
  const samples: { share: number; rssMb: number }[] = [];
  let sent = 0;
  function* body(): Generator<Buffer> {
    for (; sent < size; sent += chunk.length) yield chunk;
  }
  const sampler = setInterval(() => samples.push({ share: sent / size, rssMb: rssMb(pid) }), 100);
  const url = presigned('PUT', bucket, 'huge', key);
  const seconds = await timed(async () => {
    const response = await send('PUT', url, { 'content-length': String(size) }, body());
    await drain(response, 200);
  });
  clearInterval(sampler);
  await drain(await send('DELETE', presigned('DELETE', bucket, 'huge', key), {}, []), 204);
  const early = Math.max(...samples.filter(({ share }) => share < 0.1).map((sample) => sample.rssMb));
  const most = Math.max(...samples.map((sample) => sample.rssMb));
  const ok = samples.length > 0 && most - early <= GROWTH_MB;
  console.log(
    `S3: memory during an upload of ${UPLOAD_GB} GB (${(size / MB / seconds).toFixed(0)} MB/s)\n` +
      `  in the first tenth at most ${early.toFixed(0)} MB, in all ${most.toFixed(0)} MB, growth ${(most - early).toFixed(0)} MB, ` +
      `goal ≤ ${GROWTH_MB} MB: ${ok ? 'met' : 'MISSED'}, n = ${samples.length} samples`,
  );
  if (!ok) process.exitCode = 1;
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return (performance.now() - since) / 1_000;
}

async function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  body: Iterable<Buffer>,
): Promise<IncomingMessage> {
  const sending = request(url, { method, headers, agent });
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  Readable.from(body, { objectMode: false, highWaterMark: 4 * MB }).pipe(sending);
  const [response] = await answered;
  return response;
}

async function drain(response: IncomingMessage, status: number): Promise<number> {
  let size = 0;
  let text = '';
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (response.statusCode !== status) text += chunk.toString();
  });
  await once(response, 'end');
  if (response.statusCode !== status) throw new Error(`${response.statusCode}: ${text.slice(0, 500)}`);
  return size;
}

function presigned(
  method: 'GET' | 'PUT' | 'DELETE',
  { name: bucket }: Bucket,
  key: string,
  { accessKeyId, secretAccessKey }: CreatedS3Key,
  query: Record<string, string> = {},
): string {
  return presignUrl({
    origin: platform.s3Url,
    bucket,
    key,
    method,
    query,
    accessKeyId,
    secretAccessKey,
    region: 'us-east-1',
    expiresInSeconds: 3_600,
    now: new Date(),
  });
}

/** Signed with the hash of its body, which the service compares. */
function signed(
  method: string,
  { name: bucket }: Bucket,
  key: string,
  { accessKeyId, secretAccessKey }: CreatedS3Key,
  payloadHash: string,
): { url: string; headers: Record<string, string> } {
  const timestamp = timestampOf(new Date());
  const scope = { date: timestamp.slice(0, 8), region: 'us-east-1' };
  const encodedPath = `/${bucket}/${encodeKey(key)}`;
  const headers = {
    host: new URL(platform.s3Url).host,
    'x-amz-content-sha256': payloadHash,
    'x-amz-date': timestamp,
  };
  const signature = signRequest(
    { method, encodedPath, query: [], headers: Object.entries(headers), payloadHash },
    secretAccessKey,
    scope,
    timestamp,
  );
  const names = Object.keys(headers).sort().join(';');
  return {
    url: `${platform.s3Url}${encodedPath}`,
    headers: {
      ...headers,
      authorization: `${ALGORITHM} Credential=${accessKeyId}/${scopeText(scope)}, SignedHeaders=${names}, Signature=${signature}`,
    },
  };
}
