import { createHash, randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { api } from '@stagi/contract/api.ts';
import { UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { expect } from 'vitest';
import { until } from './until.ts';
import { put, type VolumeLab } from './volumeLab.ts';

const MB = 1024 * 1024;

/** Uploads so much, with a cut on the way. Answers by how many bytes the memory of this process grew at most. */
export async function uploadWithCut(
  { owner, daemon, of, onServer }: VolumeLab,
  { megabytes }: { megabytes: number },
): Promise<number> {
  const total = megabytes * MB;
  const chunk = randomBytes(MB);
  const expected = createHash('sha256');
  for (let n = 0; n < megabytes; n += 1) expected.update(chunk);
  const bytes = (from: number, until = total) =>
    Readable.from(
      (function* () {
        for (let at = from; at < until; at += MB - (at % MB)) yield chunk.subarray(at % MB);
      })(),
    );
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
  const begun = performance.now();
  const asked = { ...of, path: 'large.bin', sizeBytes: total };
  const first = await owner.client(api.volumeFiles.upload, asked);
  const { uploadId } = first;
  const body = bytes(0);
  const sending = put(first.link, body, 0, total);
  const kept = () =>
    stat(onServer(UPLOAD_PREFIX + uploadId)).then(
      ({ size }) => size,
      () => 0,
    );
  await until('a third is there', async () => (await kept()) > total / 3);
  body.destroy(new Error('the connection broke off'));
  await expect(sending).rejects.toThrow();
  const next = await until('the rest is known', async () => {
    const answer = await owner.client(api.volumeFiles.upload, { ...asked, uploadId });
    return answer.offset === (await kept()) ? answer : null;
  });
  expect(next.offset).toBeGreaterThan(total / 3);
  expect(next.offset).toBeLessThan(total);
  let offset = next.offset;
  const answer = await until('the first stream has ended', async () => {
    offset = (await owner.client(api.volumeFiles.upload, { ...asked, uploadId })).offset;
    const tried = await put(next.link, bytes(offset), offset, total - offset);
    return tried.status === 429 ? null : tried;
  });
  clearInterval(watch);
  const seconds = (performance.now() - begun) / 1000;
  expect(answer).toEqual({ status: 200, body: { isSuccess: true, isDone: true, offset: total } });
  const got = createHash('sha256').update(await readFile(onServer('large.bin')));
  console.log(
    `uploads: ${megabytes} MB with a cut at ${Math.round(next.offset / MB)} MB in ${seconds.toFixed(1)} s, memory ${Math.round((peak - before) / MB)} MB more at most`,
  );
  expect(got.digest('hex')).toBe(expected.digest('hex'));
  const recorded = daemon.deps.uploads.before(Number.POSITIVE_INFINITY).map(({ upload }) => upload);
  expect(recorded).not.toContain(uploadId);
  return peak - before;
}
