import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { api } from '@stagi/contract/api.ts';
import { UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { sweepUploads } from '@stagi/daemon/src/volumes/sweepUploads.ts';
import { visitContent } from '@stagi/server/src/contentHost/testing/visitContent.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uploadWithCut } from './cutUpload.ts';
import type { FilesDaemon } from './filesDaemon.ts';
import { until } from './until.ts';
import { isDraft, put, startVolumeLab, type VolumeLab } from './volumeLab.ts';

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

describe('an upload', () => {
  it('goes into folders that are made on the way, and is downloaded in ranges', async () => {
    const body = randomBytes(3 * MB + 7);
    expect(await lab.upload('new/deep/file.bin', body)).toEqual({
      status: 200,
      body: { isSuccess: true, isDone: true, offset: body.length },
    });
    const again = await lab.upload('new/deep/file.bin', Buffer.from('x'));
    expect(again).toMatchObject({ status: 409, body: { message: 'There is a file of this name' } });
    const { link } = await owner.client(api.volumeFiles.download, { ...of, path: 'new/deep/file.bin' });
    const whole = await visitContent(app, link);
    expect(whole.status).toBe(200);
    expect(whole.body.equals(body)).toBe(true);
    expect(whole.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename=file.bin',
      'x-content-type-options': 'nosniff',
    });
    const part = await visitContent(app, link, { headers: { range: 'bytes=10-19' } });
    expect([part.status, part.headers['content-range'], part.body.equals(body.subarray(10, 20))]).toEqual([
      206,
      `bytes 10-19/${body.length}`,
      true,
    ]);
    const beyond = await visitContent(app, link, { headers: { range: `bytes=${body.length}-` } });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${body.length}`]);
    const head = await visitContent(app, link, { method: 'HEAD' });
    expect([head.status, head.headers['content-length']]).toEqual([200, String(body.length)]);
    expect(await lab.upload('empty', Buffer.alloc(0))).toMatchObject({ status: 200, body: { isDone: true } });
    const empty = await owner.client(api.volumeFiles.download, { ...of, path: 'empty' });
    expect((await visitContent(app, empty.link)).body.length).toBe(0);
    expect(await lab.upload('empty', Buffer.from('no more'), { replace: true })).toMatchObject({ status: 200 });
    expect(await readFile(onServer('empty'), 'utf8')).toBe('no more');
  });

  it('goes on after a cut', async () => {
    await uploadWithCut(lab, { megabytes: 50 });
  });

  it('that was abandoned is removed after a day, one under way is not', async () => {
    const { link, uploadId } = await owner.client(api.volumeFiles.upload, { ...of, path: 'half', sizeBytes: 100 });
    expect(await put(link, Buffer.alloc(40))).toMatchObject({ status: 200, body: { isDone: false, offset: 40 } });
    const names = () => readdir(daemon.directory);
    await sweepUploads(daemon.deps);
    expect(await names()).toContain(UPLOAD_PREFIX + uploadId);
    await sweepUploads(daemon.deps, Date.now() + 25 * 3_600_000);
    expect(await names()).not.toContain(UPLOAD_PREFIX + uploadId);
  });

  it('that is given up leaves nothing', async () => {
    const asked = { ...of, path: 'given/up', sizeBytes: 100 };
    const { link, uploadId } = await owner.client(api.volumeFiles.upload, asked);
    await put(link, Buffer.alloc(40));
    await owner.client(api.volumeFiles.discardUpload, { ...of, path: 'given/up', uploadId });
    expect(await readdir(onServer('given'))).toEqual([]);
    const gone = await put(link, Buffer.alloc(60), 40);
    expect(gone).toMatchObject({ status: 409, body: { message: 'This upload is not there any more: begin it again' } });
  });

  it('of more bytes than were announced is refused, and leaves nothing', async () => {
    const asked = { ...of, path: 'more/than', sizeBytes: 100 };
    // Told by its length before any byte is taken, and counted where it tells none.
    for (const length of [150, undefined]) {
      const { link } = await owner.client(api.volumeFiles.upload, asked);
      expect(await put(link, Readable.from([Buffer.alloc(150)]), 0, length)).toMatchObject({
        status: length ? 400 : 409,
        body: { message: 'More bytes came than were announced' },
      });
    }
    expect(await readdir(onServer('more'))).toEqual([]);
  });

  it('cannot be taken over by another one that runs', async () => {
    const { link } = await owner.client(api.volumeFiles.upload, { ...of, path: 'two', sizeBytes: 10 });
    const slow = new Readable({ read() {} });
    const first = put(link, slow, 0, 10);
    slow.push(Buffer.alloc(4));
    await until('the first has begun', async () => (await readdir(daemon.directory)).some(isDraft));
    expect(await put(link, Buffer.alloc(10))).toMatchObject({ status: 429 });
    slow.push(Buffer.alloc(6));
    slow.push(null);
    expect(await first).toMatchObject({ status: 200, body: { isDone: true } });
  });
});
