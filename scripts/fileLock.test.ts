import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFile } from './fileLock.mjs';

describe('a file lock', () => {
  let folder: string;
  let file: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stagi-lock-'));
    file = join(folder, 'made/with/the/lock');
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  it('has one holder at a time, and tells the others that they wait', async () => {
    let holders = 0;
    let most = 0;
    let waits = 0;
    const work = async () => {
      const release = await lockFile(file, { onWait: () => (waits += 1) });
      holders += 1;
      most = Math.max(most, holders);
      await new Promise(setImmediate);
      holders -= 1;
      await release();
    };
    const release = await lockFile(file);
    const others = Promise.all(Array.from({ length: 5 }, work));
    await expect.poll(() => waits).toBe(5);
    expect(most).toBe(0);
    await release();
    await others;
    expect({ most, waits }).toEqual({ most: 1, waits: 5 });
  });

  it('is not waited for on demand', async () => {
    const release = await lockFile(file);
    expect(await lockFile(file, { wait: false })).toBe(null);
    await release();
    const again = await lockFile(file, { wait: false });
    await again?.();
    expect(again).not.toBe(null);
  });

  it('is waited for until the caller is asked to end', async () => {
    const release = await lockFile(file);
    const stop = new AbortController();
    const onWait = () => stop.abort();
    await expect(lockFile(file, { onWait, signal: stop.signal })).rejects.toThrow('is not waited for any longer');
    await release();
    await (await lockFile(file))();
  });

  it('ends with its holder, however that ends, while programs that it started live on', async () => {
    const script = `
      import { spawn } from 'node:child_process';
      const { lockFile } = await import(${JSON.stringify(join(import.meta.dirname, 'fileLock.mjs'))});
      await lockFile(${JSON.stringify(file)});
      spawn('cat', { stdio: ['inherit', 'ignore', 'ignore'], detached: true });
      console.log('held');`;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(holder);
    await once(holder.stdout!, 'data');
    expect(await lockFile(file, { wait: false })).toBe(null);
    holder.kill('SIGKILL');
    const release = await lockFile(file);
    await release();
    holder.stdin!.end();
  });

  it('does not keep its holder from ending', async () => {
    const script = `
      const { lockFile } = await import(${JSON.stringify(join(import.meta.dirname, 'fileLock.mjs'))});
      await lockFile(${JSON.stringify(file)});`;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
    children.push(holder);
    expect((await once(holder, 'exit'))[0]).toBe(0);
  });
});
