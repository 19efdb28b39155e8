import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aStorage } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { openContent, putObjects, readAnswer, visitContent } from './testing/visitContent.ts';

const MB = 1024 * 1024;
const MANY = 1_000;
const LARGE = 64 * MB;
/** Beyond what the sockets and streams between S3 service, content host and reader hold. */
const IN_MEMORY = 60 * MB;

describe('an archive of objects', { timeout: 240_000 }, () => {
  let app: TestApp;
  let owner: Person;
  let folder: string;
  beforeAll(async () => {
    app = await startTestApp();
    owner = await app.signUp('Ada');
    folder = mkdtempSync(join(tmpdir(), 'stagi-archive-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await app?.close();
  });

  it('of 1,000 objects holds each of them', async () => {
    const id = await aStorage(app.ctx, owner);
    const objects = Array.from({ length: MANY }, (_, n) => ({ key: `many/${n}.txt`, body: `object ${n}` }));
    await putObjects(app, owner, id, objects);
    const start = performance.now();
    const answer = await visitContent(app, (await owner.client(api.sharing.zipLink, { id, prefix: 'many/' })).link);
    const seconds = (performance.now() - start) / 1000;
    expect([answer.status, answer.isComplete]).toEqual([200, true]);
    const file = join(folder, 'many.zip');
    writeFileSync(file, answer.body);
    const read =
      'import sys,zipfile; z = zipfile.ZipFile(sys.argv[1]); print(sum(z.read(f"many/{n}.txt").decode() == f"object {n}" for n in range(1000)), len(z.namelist()))';
    expect(execFileSync('python3', ['-c', read, file], { encoding: 'utf8' }).trim()).toBe(`${MANY} ${MANY}`);
    console.log(`archive of ${MANY} objects: ${seconds.toFixed(1)} s`);
  });

  it('waits for a slow reader without holding the objects, and is cut off when its key ends', async () => {
    const id = await aStorage(app.ctx, owner);
    const body = Buffer.alloc(LARGE, 7);
    await putObjects(
      app,
      owner,
      id,
      [1, 2, 3, 4].map((n) => ({ key: `large/${n}`, body })),
    );
    const other = await app.signUp('Max');
    expect(other.userId).not.toBe(owner.userId);
    const { link } = await owner.client(api.sharing.zipLink, { id, prefix: 'large/' });
    const before = process.memoryUsage();
    const answer = await openContent(app, link);
    answer.pause();
    // `complete` tells that it was cut off.
    answer.on('error', () => {});
    await expect.poll(() => app.ctx.slots.objectZips.held).toBe(1);
    const held = () => {
      const { arrayBuffers, heapUsed } = process.memoryUsage();
      return arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed;
    };
    const seen: number[] = [];
    await expect.poll(() => seen.push(held()), { interval: 100, timeout: 10_000 }).toBeGreaterThan(20);
    expect(Math.max(...seen)).toBeLessThan(IN_MEMORY);
    const since = performance.now();
    await app.ctx.db.updateTable('s3_key').set({ revoked_at: new Date() }).where('purpose', '=', 'browser').execute();
    const cut = await readAnswer(answer);
    const seconds = (performance.now() - since) / 1000;
    expect(cut.isComplete).toBe(false);
    expect(cut.body.length).toBeLessThan(4 * LARGE);
    expect(seconds).toBeLessThan(3);
    await expect.poll(() => app.ctx.slots.objectZips.held).toBe(0);
    console.log(`archive cut off after ${seconds.toFixed(1)} s, at most ${Math.round(Math.max(...seen) / MB)} MB held`);
  });
});
