import { once } from 'node:events';
import {
  chmod,
  chown,
  link as hardLink,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { api } from '@stagi/contract/api.ts';
import { STREAMS_FEATURE } from '@stagi/contract/daemonStreams.ts';
import { UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { aMember } from '@stagi/server/src/app/testing/seededWorkspace.ts';
import { announce } from '@stagi/server/src/bus/bus.ts';
import { openContent, readAnswer, visitContent } from '@stagi/server/src/contentHost/testing/visitContent.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { anApiToken } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromBuffer } from 'yauzl';
import type { FilesDaemon } from './filesDaemon.ts';
import { until } from './until.ts';
import { isDraft, put, refusalOf, startVolumeLab, type VolumeLab } from './volumeLab.ts';

const MB = 1024 * 1024;

let lab: VolumeLab;
let app: TestApp;
let owner: Person;
let daemon: FilesDaemon;
let of: VolumeLab['of'];

beforeAll(async () => {
  lab = await startVolumeLab();
  ({ app, owner, daemon, of } = lab);
});
afterAll(() => lab?.close());

const onServer = (path: string): string => lab.onServer(path);

describe('files of a volume', () => {
  it('are listed folders first, page by page, with what cannot be opened', async () => {
    await mkdir(onServer('list/z-folder'), { recursive: true });
    for (const name of ['b.txt', 'a.png', 'é', '.hidden', `${UPLOAD_PREFIX}x`])
      await writeFile(onServer(`list/${name}`), name);
    await symlink('/etc/passwd', onServer('list/link'));
    await writeFile(Buffer.concat([Buffer.from(`${onServer('list')}/`), Buffer.from([0x66, 0xff])]), 'odd');
    const all = await owner.client(api.volumeFiles.list, { ...of, path: 'list' });
    expect(all.entries.map(({ name, kind }) => [name, kind])).toEqual([
      ['z-folder', 'folder'],
      ['.hidden', 'file'],
      ['a.png', 'file'],
      ['b.txt', 'file'],
      ['f\\xff', 'file'],
      ['link', 'link'],
      ['é', 'file'],
    ]);
    expect(all.entries.find(({ name }) => name === 'a.png')).toMatchObject({ contentType: 'image/png', sizeBytes: 5 });
    expect(all.entries.find(({ isEscaped }) => isEscaped)?.name).toBe('f\\xff');
    const paged: string[] = [];
    let after: string | undefined;
    do {
      const page = await owner.client(api.volumeFiles.list, { ...of, path: 'list', limit: 2, after });
      paged.push(...page.entries.map(({ name }) => name));
      after = page.next ?? undefined;
    } while (after);
    expect(paged).toEqual(all.entries.map(({ name }) => name));
    const some = await owner.client(api.volumeFiles.list, { ...of, path: 'list', prefix: 'b' });
    expect(some.entries.map(({ name }) => name)).toEqual(['b.txt']);
  });

  it('are written, read, renamed and deleted, each written down in the audit log', async () => {
    await owner.client(api.volumeFiles.mkdir, { ...of, path: 'work' });
    const { entry } = await owner.client(api.volumeFiles.write, {
      ...of,
      path: 'work/a.txt',
      text: 'one é',
      etag: null,
    });
    expect(entry).toMatchObject({ name: 'a.txt', kind: 'file', sizeBytes: 6, contentType: 'text/plain' });
    const read = await owner.client(api.volumeFiles.read, { ...of, path: 'work/a.txt' });
    expect(read.content).toEqual({ kind: 'text', text: 'one é', isCut: false });
    expect(read.entry.etag).toBe(entry.etag);
    const cut = await owner.client(api.volumeFiles.read, { ...of, path: 'work/a.txt', maxBytes: 5 });
    expect(cut.content).toEqual({ kind: 'text', text: 'one ', isCut: true });
    await owner.client(api.volumeFiles.rename, { ...of, path: 'work/a.txt', newPath: 'work/b.txt' });
    expect(await readFile(onServer('work/b.txt'), 'utf8')).toBe('one é');
    await writeFile(onServer('work/c'), '');
    const { deleted, isMore } = await owner.client(api.volumeFiles.delete, { ...of, path: 'work' });
    expect({ deleted, isMore }).toEqual({ deleted: 3, isMore: false });
    const { entities } = await owner.client(api.audit.list, { areas: ['docker-container'] });
    expect(entities.map(({ action }) => action.split('/').pop())).toEqual(['delete', 'rename', 'write', 'mkdir']);
    expect(entities[1]!.detail).toMatchObject({ volume: '/data', path: 'work/a.txt', newPath: 'work/b.txt' });
    expect(JSON.stringify(entities)).not.toContain('one é');
  });

  it('are not overwritten when somebody else changed them meanwhile', async () => {
    const first = await owner.client(api.volumeFiles.write, { ...of, path: 'shared.txt', text: 'a', etag: null });
    await writeFile(onServer('shared.txt'), 'by the container');
    const { etag } = first.entry;
    const refusal = await refusalOf(
      owner.client(api.volumeFiles.write, { ...of, path: 'shared.txt', text: 'b', etag }),
    );
    expect([refusal.status, refusal.message]).toEqual([409, 'This file was changed since it was read']);
    expect(await readFile(onServer('shared.txt'), 'utf8')).toBe('by the container');
    const taken = await refusalOf(
      owner.client(api.volumeFiles.write, { ...of, path: 'shared.txt', text: 'b', etag: null }),
    );
    expect([taken.status, taken.message]).toEqual([409, 'There is a file of this name']);
    const { entry } = await owner.client(api.volumeFiles.view, { ...of, path: 'shared.txt' });
    await owner.client(api.volumeFiles.write, { ...of, path: 'shared.txt', text: 'b', etag: entry.etag });
    expect(await readFile(onServer('shared.txt'), 'utf8')).toBe('b');
    expect((await readdir(daemon.directory)).filter((name) => name.startsWith(UPLOAD_PREFIX))).toEqual([]);
  });

  it('keep owner and mode; new ones have those of their folder', async () => {
    await mkdir(onServer('owned'));
    await chown(onServer('owned'), 1234, 2345);
    await writeFile(onServer('owned/run.sh'), 'a');
    await chmod(onServer('owned/run.sh'), 0o4755);
    await chown(onServer('owned/run.sh'), 55, 66);
    await chmod(onServer('owned/run.sh'), 0o4755);
    const { entry } = await owner.client(api.volumeFiles.view, { ...of, path: 'owned/run.sh' });
    await owner.client(api.volumeFiles.write, { ...of, path: 'owned/run.sh', text: 'b', etag: entry.etag });
    await owner.client(api.volumeFiles.write, { ...of, path: 'owned/new', text: 'b', etag: null });
    await owner.client(api.volumeFiles.mkdir, { ...of, path: 'owned/folder' });
    const facts = async (name: string) => {
      const { uid, gid, mode } = await stat(onServer(`owned/${name}`));
      return [uid, gid, mode & 0o7777];
    };
    expect(await facts('run.sh')).toEqual([55, 66, 0o755]);
    expect(await facts('new')).toEqual([1234, 2345, 0o644]);
    expect(await facts('folder')).toEqual([1234, 2345, 0o755]);
  });

  it('are never shown as a page', async () => {
    await writeFile(onServer('page.html'), '<script>alert(1)</script>');
    await writeFile(onServer('a.svg'), '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const preview = async (path: string) =>
      visitContent(app, (await owner.client(api.volumeFiles.previewLink, { ...of, path })).link);
    const page = await preview('page.html');
    expect(page.headers['content-type']).toBe('application/octet-stream');
    expect(page.headers['content-disposition']).toMatch(/^attachment/);
    const picture = await preview('a.svg');
    expect(picture.headers['content-type']).toBe('image/svg+xml');
    expect(picture.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
  });

  it('come as a ZIP file of a folder, without links, with names that are safe everywhere', async () => {
    await mkdir(onServer('pack/sub/..\\..\\up'), { recursive: true });
    await writeFile(onServer('pack/a.txt'), 'aaa');
    await utimes(onServer('pack/a.txt'), 0, 0);
    await writeFile(onServer('pack/sub/b.bin'), Buffer.alloc(2 * MB, 7));
    await writeFile(onServer('pack/sub/..\\..\\up/C:evil\n'), 'c');
    await symlink('/etc', onServer('pack/etc'));
    await hardLink(onServer('pack/a.txt'), onServer('pack/same.txt'));
    const { link } = await owner.client(api.volumeFiles.download, { ...of, path: 'pack' });
    const answer = await visitContent(app, link);
    expect(answer.headers['content-disposition']).toBe('attachment; filename=pack.zip');
    const members = await unzip(answer.body);
    expect([...members.keys()].toSorted()).toEqual([
      'pack/',
      'pack/a.txt',
      'pack/same.txt',
      'pack/sub/',
      'pack/sub/.._.._up/',
      'pack/sub/.._.._up/C_evil_',
      'pack/sub/b.bin',
    ]);
    expect(members.get('pack/a.txt')!.toString()).toBe('aaa');
    expect(members.get('pack/sub/b.bin')!.equals(Buffer.alloc(2 * MB, 7))).toBe(true);
  });
});

describe('a download', () => {
  it('of a file that is cut meanwhile breaks off: it does not look whole', async () => {
    const size = 64 * MB;
    await writeFile(onServer('shrinks'), Buffer.alloc(size));
    const { link } = await owner.client(api.volumeFiles.download, { ...of, path: 'shrinks' });
    const answer = await openContent(app, link);
    await once(answer, 'readable');
    await truncate(onServer('shrinks'), MB);
    const { isComplete, body } = await readAnswer(answer);
    expect(isComplete).toBe(false);
    expect(body.length).toBeLessThan(size);
    await rm(onServer('shrinks'));
  });

  it('never has more bytes than were announced, whatever a server sends', async () => {
    const facts = { kind: 'file', sizeBytes: 4, modifiedAt: new Date(0).toISOString(), etag: 'e' };
    const next = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged';
    await daemon.rejoin(undefined, async ({ operation }, accept) => {
      const stream = accept();
      stream.resume();
      if (operation.do === 'stat') return void stream.end(JSON.stringify(facts));
      const head = Buffer.from(JSON.stringify({ ...facts, from: 0, length: 4 }));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(head.length);
      stream.end(Buffer.concat([length, head, Buffer.from(`file${next}`)]));
    });
    const { link } = await until('the daemon is back', () =>
      owner.client(api.volumeFiles.download, { ...of, path: 'any' }).catch(() => null),
    );
    const raw = connect(Number(new URL(app.url).port), '127.0.0.1');
    const { host, pathname } = new URL(link);
    for (let n = 0; n < 2; n += 1) raw.write(`GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    let got = '';
    raw.on('data', (part) => (got += part)).on('error', () => {});
    await new Promise((resolve) => raw.on('close', resolve));
    expect(got).not.toContain('forged');
    const read = await refusalOf(owner.client(api.volumeFiles.read, { ...of, path: 'any' }));
    expect(read.status).toBe(503);
    await daemon.rejoin();
    await until('it is back', () => owner.client(api.volumeFiles.list, of).catch(() => null));
  });

  it('that is refused has the headers of a refusal', async () => {
    const { link } = await owner.client(api.volumeFiles.download, { ...of, path: 'shared.txt' });
    const [container] = daemon.desired.containers;
    const directories = [{ host: '/etc', container: '/data' }];
    daemon.desired.containers = [{ ...container!, spec: { ...container!.spec, directories } }];
    const refused = await visitContent(app, link);
    daemon.desired.containers = [container!];
    expect(refused.status).toBe(409);
    expect(refused.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(refused.headers).not.toHaveProperty('content-disposition');
    const upload = await owner.client(api.volumeFiles.upload, { ...of, path: 'never', sizeBytes: 1 });
    daemon.desired.containers = [{ ...container!, spec: { ...container!.spec, directories } }];
    const sent = await put(upload.link, Buffer.alloc(1));
    daemon.desired.containers = [container!];
    expect(sent).toMatchObject({ status: 409, body: { isSuccess: false } });
  });
});

function unzip(bytes: Buffer): Promise<Map<string, Buffer>> {
  const members = new Map<string, Buffer>();
  return new Promise((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: true, validateEntrySizes: true }, (error, zip) => {
      if (error || !zip) return reject(error);
      zip.on('error', reject).on('end', () => resolve(members));
      zip.on('entry', (entry) =>
        zip.openReadStream(entry, async (failure, stream) => {
          if (failure || !stream) return reject(failure);
          members.set(entry.fileName, Buffer.concat(await stream.toArray()));
          zip.readEntry();
        }),
      );
      zip.readEntry();
    });
  });
}

describe('what is refused', () => {
  it('names the reason: no container, no volume, no file, a server that is away', async () => {
    const missing = await refusalOf(owner.client(api.volumeFiles.read, { ...of, path: 'nowhere' }));
    expect([missing.status, missing.message]).toEqual([404, 'There is no such file or folder']);
    const volume = await refusalOf(owner.client(api.volumeFiles.list, { ...of, volume: '/other' }));
    expect([volume.status, volume.body?.fieldsWithError]).toEqual([400, ['volume']]);
    const folder = await refusalOf(owner.client(api.volumeFiles.list, { ...of, path: 'shared.txt' }));
    expect([folder.status, folder.message]).toEqual([409, 'This is not a folder']);
    await daemon.leave();
    const away = await refusalOf(owner.client(api.volumeFiles.list, of));
    expect([away.status, away.message]).toEqual([503, 'Its server cannot be reached']);
    await daemon.rejoin([STREAMS_FEATURE]);
    const old = await until('an old agent is back', async () => {
      const refusal = await refusalOf(owner.client(api.volumeFiles.list, of));
      return refusal.message === 'Its server cannot be reached' ? null : refusal;
    });
    expect([old.status, old.message]).toEqual([503, 'The agent of this server is too old for this: install it again']);
    await daemon.rejoin();
    await until('it is back', () => owner.client(api.volumeFiles.list, of).catch(() => null));
  });

  it('by the server’s own desired state and policy, whatever the platform signs', async () => {
    const operation = { do: 'list', path: '', prefix: '', after: null, limit: 10 } as const;
    const open = (containerId: number, volume: string) =>
      app.ctx.streams.open(daemon.serverId, { kind: 'file', containerId, volume, operation });
    await expect(open(daemon.containerId + 1, '/data')).rejects.toMatchObject({ status: 404 });
    await expect(open(daemon.containerId, '/etc')).rejects.toMatchObject({ status: 404 });
    const [container] = daemon.desired.containers;
    const { spec } = container!;
    const tried: [object, number][] = [
      [{ ...container, state: 'absent' }, 404],
      [{ ...container, task: {} }, 404],
      [{ ...container, spec: { ...spec, directories: [{ host: '/etc', container: '/data' }] } }, 403],
      [{ ...container, spec: { ...spec, directories: [{ host: '/', container: '/data' }] } }, 403],
      [{ ...container, spec: { ...spec, directories: [{ host: '/tmp/../etc', container: '/data' }] } }, 403],
    ];
    for (const [replaced, status] of tried) {
      daemon.desired.containers = [replaced as never];
      await expect(open(daemon.containerId, '/data')).rejects.toMatchObject({ status });
    }
    daemon.desired.containers = [container!];
  });

  it('an upload and a download to somebody who may not change the container any more', async () => {
    const colleague = await app.signUp();
    await aMember(app, colleague, owner.workspaceId, 'Developer');
    colleague.useWorkspace(owner.workspaceId);
    const { link } = await colleague.client(api.volumeFiles.upload, { ...of, path: 'never', sizeBytes: 10 });
    const download = await colleague.client(api.volumeFiles.download, { ...of, path: 'shared.txt' });
    const body = new Readable({ read() {} });
    const sending = put(link, body, 0, 10);
    body.push(Buffer.alloc(4));
    await until('it has begun', async () => (await readdir(daemon.directory)).some(isDraft));
    const { db } = app.ctx;
    const ofColleague = sql<boolean>`user_id = ${colleague.userId} and workspace_id = ${owner.workspaceId}`;
    await db.updateTable('membership').set({ role: 'Billing' }).where(ofColleague).execute();
    await announce(db, 'access', { userId: colleague.userId });
    expect(await sending).toMatchObject({ status: 410, body: { message: 'This upload has expired: begin it again' } });
    expect((await put(link, Buffer.alloc(10))).status).toBe(404);
    expect((await visitContent(app, download.link)).status).toBe(404);
    await db.deleteFrom('membership').where(ofColleague).execute();
    expect((await put(link, Buffer.alloc(10))).status).toBe(410);
    expect((await visitContent(app, download.link)).status).toBe(410);
    expect(await readdir(daemon.directory)).not.toContain('never');
  });

  it('everything with a changed ticket, or with one for something else', async () => {
    const { link } = await owner.client(api.volumeFiles.upload, { ...of, path: 'never', sizeBytes: 1 });
    const { link: shown } = await owner.client(api.volumeFiles.previewLink, { ...of, path: 'shared.txt' });
    const [upload, preview] = [link.split('/').pop()!, shown.split('/').pop()!];
    for (const ticket of [`${upload}x`, upload.slice(0, -3), 'x', '', preview, 'a'.repeat(9000)])
      expect((await put(link.replace(upload, ticket), Buffer.from('x'))).status).toBe(404);
    for (const ticket of [`${preview}x`, 'x', preview.slice(3)])
      expect((await visitContent(app, shown.replace(preview, ticket))).status).toBe(404);
    expect((await visitContent(app, shown.replace(preview, upload))).status).toBe(410);
    expect(await readdir(daemon.directory)).not.toContain('never');
  });

  it('what an API token has no permission for', async () => {
    const made = await anApiToken(app.ctx, owner, { permissions: ['PROJECT_MANAGEMENT'] });
    const authorization = `Bearer ${made.token}`;
    const ask = (call: { path: string }, more: object) => app.post(call.path, { ...of, ...more }, { authorization });
    expect((await ask(api.volumeFiles.list, {})).status).toBe(200);
    expect((await ask(api.volumeFiles.read, { path: 'shared.txt' })).status).toBe(200);
    expect((await ask(api.volumeFiles.write, { path: 'x', text: '', etag: null })).status).toBe(403);
    expect((await ask(api.volumeFiles.download, { path: 'shared.txt' })).status).toBe(403);
    const able = await anApiToken(app.ctx, owner, { permissions: ['INSTANCE_RENTED_MANAGEMENT'] });
    const large = { path: 'by-token', text: 'é'.repeat(500_000), etag: null };
    const written = await app.post(
      api.volumeFiles.write.path,
      { ...of, ...large },
      { authorization: `Bearer ${able.token}` },
    );
    expect(written.status).toBe(200);
    expect((await stat(onServer('by-token'))).size).toBe(1_000_000);
  });
});
