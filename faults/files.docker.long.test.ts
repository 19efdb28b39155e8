import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { api } from '@stagi/contract/api.ts';
import type { FileOperation } from '@stagi/contract/daemonFiles.ts';
import { UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { docker, ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FilesDaemon, joinFilesDaemon } from './filesDaemon.ts';

const run = promisify(execFile);
const SECRET = 'SECRET of the server';
const ROUNDS = 200;

let app: TestApp;
let owner: Person;
let daemon: FilesDaemon;
let outside: string;

beforeAll(async () => {
  await ensureTestImage();
  app = await startTestApp({}, { role: 'api' });
  owner = await app.signUp();
  daemon = await joinFilesDaemon(app, owner);
  outside = join(dirname(daemon.directory), 'outside');
  await mkdir(outside);
  await mkdir(daemon.directory);
});
afterAll(async () => {
  await daemon?.close();
  await app?.close();
});

/** Renames alone, each atomic: a folder and a file are what they seem, then links to the server's own. */
const SWAP = `cd /data
busybox mkdir x; echo own > x/secret; busybox ln -s "$OUTSIDE" l
echo own > f; busybox ln -s "$OUTSIDE/secret" k; busybox mkfifo p
while :; do
  busybox mv x d; busybox mv l x; busybox mv f g; busybox mv k f
  busybox mv x l; busybox mv d x; busybox mv f k; busybox mv p f
  busybox mv f p; busybox mv g f
done`;

it('a container that swaps folders and files for links meanwhile leads nothing out of its volume', async () => {
  await writeFile(join(outside, 'secret'), SECRET);
  const container = await docker.createContainer({
    Image: TEST_IMAGE,
    Cmd: ['sh', '-c', SWAP],
    Env: [`OUTSIDE=${outside}`],
    HostConfig: { Binds: [`${daemon.directory}:/data`] },
  });
  const escapes: string[] = [];
  let answered = 0;
  let refused = 0;
  try {
    await container.start();
    await expect.poll(() => readdir(daemon.directory)).toContain('p');
    for (let round = 0; round < ROUNDS; round += 1)
      await Promise.all(
        operations(round).map(async (operation) => {
          const answer = await answerTo(operation);
          if (answer === null) refused += 1;
          else answered += 1;
          if (answer?.includes(SECRET)) escapes.push(`${JSON.stringify(operation)} shows the secret`);
        }),
      );
    const left = await readdir(outside);
    if (left.length !== 1) escapes.push(`outside are ${left.join(', ')}`);
    if ((await readFile(join(outside, 'secret'), 'utf8')) !== SECRET) escapes.push('the secret was changed');
  } finally {
    await container.remove({ force: true });
  }
  const n = ROUNDS * operations(0).length;
  console.log(
    `files: n = ${n} operations against swapped links, ${answered} done, ${refused} refused, ${escapes.length} escapes`,
  );
  expect(escapes).toEqual([]);
  expect(answered).toBeGreaterThan(n / 20);
  expect(refused).toBeGreaterThan(n / 20);
});

function operations(round: number): FileOperation[] {
  const name = `n${round}`;
  const write = (path: string) =>
    ({ do: 'write', path, at: 0, total: 7, upload: randomUUID(), replaces: { any: true } }) as const;
  return [
    { do: 'read', path: 'x/secret', from: 0, length: null, etag: null },
    { do: 'read', path: 'f', from: 0, length: null, etag: null },
    { do: 'list', path: 'x', prefix: '', after: null, limit: 10 },
    { do: 'archive', path: 'x' },
    write(`x/${name}`),
    { do: 'mkdir', path: `x/dir-${name}` },
    { do: 'rename', path: `x/${name}`, to: `x/renamed-${name}` },
    { do: 'remove', path: 'x/secret' },
    { do: 'remove', path: `x/dir-${name}` },
    write('x/secret'),
  ];
}

/** Null: refused, or broken off. */
async function answerTo(operation: FileOperation): Promise<string | null> {
  try {
    const target = { kind: 'file', containerId: daemon.containerId, volume: '/data', operation } as const;
    const stream = await app.ctx.streams.open(daemon.serverId, target);
    stream.on('error', () => {});
    stream.end(operation.do === 'write' ? 'written' : undefined);
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    const answer = Buffer.concat(parts).toString('latin1');
    return answer.includes('"refused"') ? null : answer;
  } catch {
    return null;
  }
}

it('says that the disk is full, before and in the middle, and frees what came', async () => {
  const full = join(daemon.directory, '../small');
  await mkdir(full);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', full]);
  try {
    const [container] = daemon.desired.containers;
    container!.spec.directories = [{ host: full, container: '/data' }];
    const of = { id: daemon.containerId, volume: '/data' };
    const upload = async (path: string, sizeBytes: number) => {
      const { link } = await owner.client(api.volumeFiles.upload, { ...of, path, sizeBytes });
      return async (body: Buffer) => {
        const answer = await fetch(link, { method: 'PUT', body: new Uint8Array(body) });
        return { status: answer.status, ...((await answer.json()) as { message?: string; isDone?: boolean }) };
      };
    };
    const FULL = { status: 507, message: 'The disk of this volume is full: delete something' };
    expect(await (await upload('large', 9 * 1024 * 1024))(Buffer.alloc(9 * 1024 * 1024))).toMatchObject(FULL);
    const sending = await upload('grows', 3 * 1024 * 1024);
    // What another program writes meanwhile is not counted before.
    await writeFile(join(full, 'other'), Buffer.alloc(1024 * 1024));
    const begun = await upload('second', 3 * 1024 * 1024);
    expect(await sending(Buffer.alloc(3 * 1024 * 1024 - 65_536))).toMatchObject({ status: 200, isDone: false });
    expect(await begun(Buffer.alloc(3 * 1024 * 1024))).toMatchObject(FULL);
    const text = owner.client(api.volumeFiles.write, { ...of, path: 'text', text: 'x'.repeat(900_000), etag: null });
    await expect(text).rejects.toMatchObject(FULL);
    expect((await readdir(full)).filter((name) => !name.startsWith(UPLOAD_PREFIX))).toEqual(['other']);
  } finally {
    await run('umount', [full]);
  }
});
