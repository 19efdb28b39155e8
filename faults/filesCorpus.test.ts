import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { FileOperation } from '@stagi/contract/daemonFiles.ts';
import { UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FilesDaemon, joinFilesDaemon } from './filesDaemon.ts';

const run = promisify(execFile);
const SECRET = 'SECRET of the server';
const ANSWER_MS = 60_000;
const UPLOAD = '00000000-0000-4000-8000-00000000000';

let app: TestApp;
let daemon: FilesDaemon;
let outside: string;
let mounted = false;

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  daemon = await joinFilesDaemon(app, await app.signUp());
  outside = join(dirname(daemon.directory), 'outside');
  await mkdir(join(outside, 'folder'), { recursive: true });
  await writeFile(join(outside, 'secret'), SECRET);
  await mkdir(join(daemon.directory, 'sub'), { recursive: true });
  await writeFile(inside('sub/own'), 'own');
  await writeFile(inside('own'), 'own');
  const links: Record<string, string> = {
    file: join(outside, 'secret'),
    folder: outside,
    up: '../outside',
    deep: 'sub/../../outside',
    root: '/',
    proc: '/proc/self/root',
    handles: '/proc/self/fd',
    loop: 'loop',
    chain: 'folder',
    dangling: join(outside, 'new'),
  };
  for (const [name, to] of Object.entries(links)) await symlink(to, inside(name));
  await run('mkfifo', [inside('fifo'), inside(`${UPLOAD_PREFIX}${UPLOAD}1`)]);
  await symlink(join(outside, 'secret'), inside(`${UPLOAD_PREFIX}${UPLOAD}2`));
  await link(join(outside, 'secret'), inside(`${UPLOAD_PREFIX}${UPLOAD}3`));
  await link(join(outside, 'secret'), inside('hard'));
  await run('mknod', [inside('device'), 'c', '1', '5']);
  const socket = createServer().listen(inside('socket'));
  await new Promise((resolve) => socket.on('listening', resolve));
  socket.unref();
  await mkdir(inside('mount'));
  mounted = await run('mount', ['--bind', outside, inside('mount')]).then(
    () => true,
    () => false,
  );
});
afterAll(async () => {
  if (mounted) await run('umount', [inside('mount')]);
  await daemon?.close();
  await app?.close();
});

const inside = (name: string): string => join(daemon.directory, name);

/** The whole answer, or the status of the refusal. Fails when none comes. */
async function answerTo(operation: unknown, volume = '/data'): Promise<number | string> {
  const opened = app.ctx.streams.open(daemon.serverId, {
    kind: 'file',
    containerId: daemon.containerId,
    volume,
    operation: operation as FileOperation,
  });
  try {
    const stream = await opened;
    const late = setTimeout(() => stream.destroy(new Error('no answer')), ANSWER_MS);
    stream.on('error', () => {});
    stream.end((operation as FileOperation).do === 'write' ? 'written' : undefined);
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    clearTimeout(late);
    return Buffer.concat(parts).toString('latin1');
  } catch (error) {
    const { status } = error as { status?: number };
    if (status === undefined) throw error;
    return status;
  }
}

const read = (path: string) => ({ do: 'read', path, from: 0, length: null, etag: null });
const list = (path: string) => ({ do: 'list', path, prefix: '', after: null, limit: 100 });
const write = (path: string, upload: string = randomUUID()) => ({
  do: 'write',
  path,
  at: 0,
  total: 7,
  upload,
  replaces: { any: true },
});
const every = (path: string): object[] => [
  read(path),
  list(path),
  { do: 'stat', path: `${path}/secret` },
  { do: 'archive', path },
  write(path),
  write(`${path}/new`),
  { do: 'mkdir', path: `${path}/made` },
  { do: 'rename', path: 'sub/own', to: `${path}/own` },
  { do: 'rename', path: `${path}/secret`, to: 'taken' },
  { do: 'remove', path: `${path}/secret` },
  { do: 'partial', path: `${path}/x`, upload: randomUUID() },
  { do: 'discard', path: `${path}/secret`, upload: randomUUID() },
];

const BAD_PATHS = [
  '..',
  '.',
  '../outside',
  '../outside/secret',
  'sub/../../outside',
  'sub/./../../outside/secret',
  '/',
  '/etc/passwd',
  '//etc',
  'sub//own',
  'sub/',
  'a\0b',
  '\ud800',
  'n'.repeat(256),
  'é'.repeat(128),
  'd/'.repeat(101).slice(0, -1),
  `${'x'.repeat(250)}/`.repeat(17).slice(0, -1),
  `${UPLOAD_PREFIX}x`,
];
const LINKS = ['file', 'folder', 'up', 'deep', 'root', 'proc', 'handles', 'loop', 'chain', 'dangling'];
const SPECIAL = ['fifo', 'device', 'socket'];

async function outsideNow(): Promise<string> {
  const { nlink, mode, uid } = await stat(join(outside, 'secret'));
  return JSON.stringify([
    await readdir(outside, { recursive: true }),
    await readFile(join(outside, 'secret'), 'utf8'),
    nlink,
    mode,
    uid,
  ]);
}

it('no operation reaches what lies outside of the volume', async () => {
  const before = await outsideNow();
  const cases: { name: string; operation: object; volume?: string }[] = [
    ...BAD_PATHS.flatMap((path) => every(path).map((operation) => ({ name: `path ${path.slice(0, 30)}`, operation }))),
    ...LINKS.flatMap((path) => every(path).map((operation) => ({ name: `link ${path}`, operation }))),
    ...SPECIAL.flatMap((path) => every(path).map((operation) => ({ name: path, operation }))),
    ...(mounted ? every('mount').map((operation) => ({ name: 'another mount', operation })) : []),
    ...[1, 2, 3].map((n) => ({ name: `draft ${n} is no draft`, operation: write('drafted', UPLOAD + n) })),
    ...['/data/', '/data/..', '', '/', '/etc', '../data', '/data\0'].map((volume) => ({
      name: `volume ${volume}`,
      operation: list(''),
      volume,
    })),
    ...['../', '/etc', '\0', 'é'].map((prefix) => ({ name: 'prefix', operation: { ...list(''), prefix } })),
    ...['x', 'd', 'd%%%', '../..'].map((after) => ({ name: 'cursor', operation: { ...list(''), after } })),
    ...['..', '../x', '/etc/x', 'folder/x', 'sub/own/x', 'a\0'].map((to) => ({
      name: 'renamed to',
      operation: { do: 'rename', path: 'own', to },
    })),
    { name: 'another operation', operation: { do: 'exec', path: 'own' } },
    { name: 'an upload id that is a path', operation: write('own', '../../outside/x') },
    { name: 'a negative offset', operation: { ...read('own'), from: -1 } },
    { name: 'the whole as an archive', operation: { do: 'archive', path: '' } },
    { name: 'a link itself is removed', operation: { do: 'remove', path: 'folder' } },
    { name: 'a hard link is replaced, not written through', operation: write('hard') },
  ];
  const escapes: string[] = [];
  let refused = 0;
  for (const { name, operation, volume } of cases) {
    const answer = await answerTo(operation, volume);
    if (typeof answer === 'number') refused += 1;
    // The hard link is a name of the volume: only by it may the content be read.
    const shows = typeof answer === 'string' && answer.includes(SECRET) && name !== 'the whole as an archive';
    if (shows || (await outsideNow()).replace(/\d+,\d+,\d+\]$/, '') !== before.replace(/\d+,\d+,\d+\]$/, ''))
      escapes.push(`${name}: ${JSON.stringify(operation)} → ${String(answer).slice(0, 200)}`);
  }
  console.log(`files: n = ${cases.length} hostile operations, ${refused} refused, ${escapes.length} escapes`);
  expect(escapes).toEqual([]);
  expect(cases.length).toBeGreaterThanOrEqual(40);
  expect(refused).toBeGreaterThan(cases.length / 2);
  expect(await readFile(inside('hard'), 'utf8')).toBe('written');
  expect((await readdir(daemon.directory)).includes('folder')).toBe(false);
  await rm(inside('hard'));
});
