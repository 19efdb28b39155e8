import {
  TASK_OUTPUT_COMPLETE_PATH,
  TASK_OUTPUT_LINKS_PATH,
  TASK_OUTPUT_PARTS_PATH,
} from '@stagi/contract/taskTransfer.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { putObjects } from '../contentHost/testing/visitContent.ts';
import { send, signed } from '../objects/testing/signedRequest.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken, aStorage } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import {
  anOpenRun,
  aProjectWith,
  askSource,
  inputOf,
  openUpload,
  outputLink,
  partLink,
  type TestRun,
  transferCall,
} from './testing/openRun.ts';

const SECRET = 'secret-of-b';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
});
afterAll(() => app?.close());

interface Side {
  owner: Person;
  run: TestRun;
  sha: string;
}

let a: Side;
let b: Side;
/** Of another workspace. */
let c: Side;
beforeEach(async () => {
  const alice = await app.signUp('Alice');
  const carol = await app.signUp('Carol');
  const storage = await aStorage(app.ctx, alice);
  const foreign = await aStorage(app.ctx, carol);
  for (const [owner, id] of [
    [alice, storage],
    [carol, foreign],
  ] as const)
    await putObjects(app, owner, id, [
      { key: 'data/a', body: 'mine' },
      { key: 'data/ab', body: SECRET },
      { key: 'data/a/b', body: SECRET },
      { key: 'other/x', body: SECRET },
    ]);
  const side = async (owner: Person, storage_id: number, input_url_path: string, content: string): Promise<Side> => {
    const project = await aProjectWith(app, owner, [{ message: 'one', files: { f: content } }]);
    const sha = project.shas[0]!;
    const run = await anOpenRun(app, owner, { project_id: project.id, commit_sha: sha, storage_id, input_url_path });
    return { owner, run, sha };
  };
  a = await side(alice, storage, 'data/a', 'mine');
  b = await side(alice, storage, 'other/', SECRET);
  c = await side(carol, foreign, 'other/', SECRET);
});

/** Everything that a bucket holds, and what its workspace's runs may still do. */
async function everything(): Promise<unknown> {
  const { rows } =
    await sql`select bucket_id, key, size, etag, modified_at from s3_object order by bucket_id, key`.execute(
      app.ctx.db,
    );
  const uploads = await sql`select id, bucket_id, key from s3_upload order by id`.execute(app.ctx.db);
  const parts = await sql`select upload_id, number from s3_part order by upload_id, number`.execute(app.ctx.db);
  return [rows, uploads.rows, parts.rows];
}

interface Outcome {
  status: number;
  body: string;
}
type Try = [what: string, run: () => Promise<Outcome>];

const outcome = async (answer: Promise<Response>): Promise<Outcome> => {
  const response = await answer;
  return { status: response.status, body: await response.text() };
};
const called = async (answer: Promise<{ status: number; body: unknown }>): Promise<Outcome> => {
  const { status, body } = await answer;
  return { status, body: JSON.stringify(body) };
};

/** With the token of A: other tokens made of it, on every route. */
function tokens(): Try[] {
  const [, id, hash] = /^stt_(\d+)_(.+)$/.exec(a.run.token)!;
  const [, otherId, otherHash] = /^stt_(\d+)_(.+)$/.exec(b.run.token)!;
  const flipped = (hash![0] === 'A' ? 'B' : 'A') + hash!.slice(1);
  // The last character has two unused bits: other letters stand for the same bytes.
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const sameBytes = hash!.slice(0, -1) + letters[letters.indexOf(hash!.at(-1)!) ^ 1];
  const forged: Record<string, string | null> = {
    'no token': null,
    'B’s number with A’s hash': `stt_${otherId}_${hash}`,
    'A’s number with B’s hash': `stt_${id}_${otherHash}`,
    'the next number': `stt_${Number(id) + 1000}_${hash}`,
    'a changed hash': `stt_${id}_${flipped}`,
    'a cut hash': a.run.token.slice(0, -1),
    'a longer hash': `${a.run.token}A`,
    'a hash of the same bytes': `stt_${id}_${sameBytes}`,
    'other case': a.run.token.toUpperCase(),
    'the hash in lower case': `stt_${id}_${hash!.toLowerCase()}`,
    'no hash': `stt_${id}_`,
    'a number with a zero before it': `stt_0${id}_${hash}`,
    'a number with a sign': `stt_+${id}_${hash}`,
    'a number as a fraction': `stt_${id}.0_${hash}`,
    'a number too large': `stt_99999999999_${hash}`,
    'B’s number encoded': `stt_%3${otherId}_${hash}`,
    'two tokens': `${a.run.token},${b.run.token}x`,
    'a session': a.owner.tokens().accessToken,
  };
  return Object.entries(forged).flatMap(([what, token]): Try[] => [
    [`source with ${what}`, () => outcome(askSource(app, token))],
    [`input with ${what}`, () => called(inputOf(app, token))],
    [
      `output with ${what}`,
      () => called(transferCall(app, token, TASK_OUTPUT_LINKS_PATH, { files: [{ path: 'evil', sizeBytes: 1 }] })),
    ],
  ]);
}

/** With A's token: what belongs to B and C. */
async function calls(): Promise<Try[]> {
  const uploadOfB = await openUpload(app, b.run, 'large');
  const uploadOfC = await openUpload(app, c.run, 'large');
  const { token } = a.run;
  const own = `tasks/${a.run.taskId}/output/`;
  const others = [b, c].map(({ run }) => `tasks/${run.taskId}/output/`);
  return [
    ...[uploadOfB, uploadOfC].flatMap((uploadId): Try[] => [
      [
        'parts of an upload of another',
        () => called(transferCall(app, token, TASK_OUTPUT_PARTS_PATH, { path: 'large', uploadId, partNumbers: [1] })),
      ],
      [
        'the completion of an upload of another',
        () => called(transferCall(app, token, TASK_OUTPUT_COMPLETE_PATH, { path: 'large', uploadId })),
      ],
    ]),
    ...others.flatMap((other): Try[] =>
      [
        `../../${other.slice('tasks/'.length)}evil`,
        `../${other}evil`,
        `/${other}evil`,
        `x/../../../${b.run.taskId}/output/evil`,
      ].map(
        (path): Try => [
          `an output at ${path}`,
          () => called(transferCall(app, token, TASK_OUTPUT_LINKS_PATH, { files: [{ path, sizeBytes: 1 }] })),
        ],
      ),
    ),
    [
      'a field that names another run',
      () =>
        called(
          transferCall(app, token, TASK_OUTPUT_LINKS_PATH, {
            files: [{ path: '../evil', sizeBytes: 1 }],
            run: b.run.runId,
            prefix: own,
          }),
        ),
    ],
  ];
}

/** With A's links: other objects, other methods, listings. */
async function links(): Promise<Try[]> {
  const { body } = await inputOf(app, a.run.token);
  const read = body.files[0]!.url;
  const write = await outputLink(app, a.run, 'f');
  const uploadId = await openUpload(app, a.run, 'large');
  const part = await partLink(app, a.run, 'large', uploadId);
  const uploadOfB = await openUpload(app, b.run, 'large');
  const get = (url: string, what: string, init: RequestInit = {}): Try => [what, () => outcome(fetch(url, init))];
  const to = (url: string, change: (one: URL) => void): string => {
    const changed = new URL(url);
    change(changed);
    return changed.href;
  };
  const put: RequestInit = { method: 'PUT', body: 'evil' };
  const { bucket, taskId } = a.run;
  const path = (name: string) => (one: URL) => {
    one.pathname = name;
  };
  const query = (name: string, value: string | null) => (one: URL) => {
    if (value === null) one.searchParams.delete(name);
    else one.searchParams.set(name, value);
  };
  const outputOf = (id: number, of = bucket): string => `/${of}/tasks/${id}/output/f`;
  return [
    get(to(read, path(`/${bucket}/data/ab`)), 'a link to a sibling of its key'),
    get(to(read, path(`/${bucket}/data/a/b`)), 'a link to a key below its key'),
    get(to(read, path(`/${bucket}/other/x`)), 'a link to the input of B'),
    get(to(read, path(`/${c.run.bucket}/data/a`)), 'a link to the bucket of C'),
    get(read.replace('/data/a?', '/data/%61b?'), 'a link with an encoded sibling'),
    get(read.replace('/data/a?', '/data/a/../ab?'), 'a link with dots'),
    get(read.replace('/data/a?', '/data/a%2f..%2fab?'), 'a link with encoded dots'),
    get(to(read, path(`/${bucket}`)), 'a listing'),
    get(`${to(read, path(`/${bucket}`))}&list-type=2&prefix=data`, 'a listing of a prefix'),
    get(`${read}&list-type=2&prefix=`, 'a link with a query of a listing'),
    get(`${read}&versionId=null`, 'a link with a version'),
    get(to(read, path('/')), 'the list of buckets'),
    get(read, 'a deletion by a link to read', { method: 'DELETE' }),
    get(read, 'a put by a link to read', put),
    get(read, 'a head by a link to read', { method: 'HEAD' }),
    get(to(read, query('X-Amz-Expires', '999999')), 'a longer life'),
    get(to(read, query('X-Amz-Date', '20200101T000000Z')), 'another date'),
    get(to(read, query('X-Amz-Signature', '0'.repeat(64))), 'another signature'),
    get(to(read, query('X-Amz-Signature', null)), 'no signature'),
    get(to(read, query('X-Amz-Credential', new URL(write).searchParams.get('X-Amz-Credential'))), 'the other key'),
    get(to(write, path(outputOf(taskId * 10 + 1))), 'an output of the task with one more digit', put),
    get(to(write, path(outputOf(b.run.taskId))), 'an output of B', put),
    get(to(write, path(outputOf(c.run.taskId, c.run.bucket))), 'an output of C', put),
    get(to(write, path(`/${bucket}/data/a`)), 'an output over an input', put),
    get(
      to(write, path(`/${bucket}/tasks/${taskId}/output/../../${b.run.taskId}/output/f`)),
      'an output with dots',
      put,
    ),
    get(write, 'a read by a link to write'),
    get(write, 'a deletion by a link to write', { method: 'DELETE' }),
    get(write, 'a copy of B’s input', { method: 'PUT', headers: { 'x-amz-copy-source': `/${bucket}/other/x` } }),
    get(`${write}&uploads=`, 'an upload of its own', { method: 'POST' }),
    get(to(part, query('uploadId', uploadOfB)), 'a part of B’s upload', put),
    get(to(part, query('partNumber', '2')), 'another part', put),
    get(to(part, query('uploadId', null)), 'an object by the link of a part', put),
    get(part, 'the end of the upload by the link of a part', { method: 'DELETE' }),
  ];
}

/** What a machine holds is no secret to sign with. */
async function signatures(): Promise<Try[]> {
  const { body } = await inputOf(app, a.run.token);
  const link = new URL(body.files[0]!.url);
  const accessKeyId = link.searchParams.get('X-Amz-Credential')!.split('/')[0]!;
  const secret = a.run.token.split('_').slice(2).join('_');
  const guesses = [a.run.token, secret, link.searchParams.get('X-Amz-Signature')!, '', accessKeyId];
  return guesses.flatMap((secretAccessKey): Try[] =>
    [`/${a.run.bucket}`, `/${a.run.bucket}/other/x`, `/${a.run.bucket}/data/a`].map(
      (path): Try => [
        `a request to ${path} signed with what a machine has`,
        () => send(link.origin, signed(link.origin, { accessKeyId, secretAccessKey }, { path })),
      ],
    ),
  );
}

describe('with the token and the links of one run', () => {
  it('nobody reads or writes what belongs to another', { timeout: 60_000 }, async () => {
    const { token } = await anApiToken(app.ctx, a.owner);
    // That each side gets its own shows that the refusals mean something.
    expect((await outcome(askSource(app, b.run.token))).body).toContain(SECRET);
    expect((await inputOf(app, b.run.token)).body.files.map(({ path }) => path)).toEqual(['x']);
    const own = await inputOf(app, a.run.token);
    expect(own.body.files.map(({ path }) => path)).toEqual(['a']);
    expect(await outcome(fetch(own.body.files[0]!.url))).toEqual({ status: 200, body: 'mine' });
    const corpus: Try[] = [
      ...tokens(),
      ...(await calls()),
      ...(await links()),
      ...(await signatures()),
      ['source with an API token', () => outcome(askSource(app, token))],
      ['input with an API token', () => called(inputOf(app, token))],
    ];
    const before = await everything();
    const accepted: string[] = [];
    for (const [what, attempt] of corpus) {
      const { status, body } = await attempt();
      if (status < 400 || status >= 500 || body.includes(SECRET))
        accepted.push(`${what}: ${status} ${body.slice(0, 200)}`);
    }
    console.log(`isolation of runs: n = ${corpus.length}, ${accepted.length} accepted`);
    expect(accepted).toEqual([]);
    expect(corpus.length).toBeGreaterThanOrEqual(20);
    expect(await everything()).toEqual(before);
  });

  it('nothing of a storage of another workspace is opened that later has the same name', async () => {
    const { body } = await inputOf(app, a.run.token);
    const [read, write] = [body.files[0]!.url, await outputLink(app, a.run, 'f')];
    await sql`update s3_bucket set closed_at = now() where name = ${a.run.bucket}`.execute(app.ctx.db);
    await sql`update s3_bucket set name = ${a.run.bucket} where name = ${c.run.bucket}`.execute(app.ctx.db);
    expect((await fetch(read)).status).toBe(403);
    expect((await fetch(write, { method: 'PUT', body: 'evil' })).status).toBe(403);
    expect((await inputOf(app, c.run.token)).body.files.map(({ path }) => path)).toEqual(['x']);
  });

  it('the files outlive the account of whoever made the task', async () => {
    await sql`update app_user set disabled_at = now() where id = ${a.owner.userId}`.execute(app.ctx.db);
    const { body } = await inputOf(app, a.run.token);
    expect((await fetch(body.files[0]!.url)).status).toBe(200);
    expect((await fetch(await outputLink(app, a.run, 'f'), { method: 'PUT', body: 'x' })).status).toBe(200);
  });
});
