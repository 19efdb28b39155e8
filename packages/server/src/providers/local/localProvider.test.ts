import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { dockerAvailable } from './docker.ts';
import { createLocalProvider } from './localProvider.ts';
import { type Host, localOffers } from './offers.ts';
import { acquireLock, holderProgress } from './processLock.ts';
import { requireLocalCloudAllowed } from './requireAllowed.ts';
import { tar } from './tar.ts';

const run = promisify(execFile);

describe('the local cloud', () => {
  const options = {
    docker: new Docker({ socketPath: '/nonexistent/docker.sock' }),
    environment: 'nowhere',
    log: pino({ level: 'silent' }),
    dataDir: tmpdir(),
    originIsLoopback: true,
    allowed: false,
  };

  it('is refused on a public address, unless it was enabled explicitly', () => {
    expect(() => requireLocalCloudAllowed({ originIsLoopback: true, allowed: false })).not.toThrow();
    expect(() => requireLocalCloudAllowed({ originIsLoopback: false, allowed: true })).not.toThrow();
    expect(() => createLocalProvider({ ...options, originIsLoopback: false })).toThrow(
      /power of root.*APP_ORIGIN.*LOCAL_CLOUD=on/,
    );
  });

  it('says how to install Docker when it is missing, with a retryable error', async () => {
    const provider = createLocalProvider(options);
    expect(await dockerAvailable(options.docker)).toBe(false);
    expect(await provider.readiness()).toEqual({
      state: 'unavailable',
      reason: expect.stringContaining('apt-get install docker.io'),
    });
    expect(await provider.gateway()).toBeNull();
    const request = { token: 't', name: 'stagi-nowhere-1', offerId: 'local-1c-2g', tags: {}, userData: '' };
    await expect(provider.start(request)).rejects.toMatchObject({ kind: 'retryable' });
    await expect(provider.list()).rejects.toMatchObject({ kind: 'retryable' });
    await expect(provider.terminate('stagi-nowhere-1')).rejects.toMatchObject({ kind: 'retryable' });
  });

  it.each(['../../secrets', 'a/b', '', '-x', 'a b'])('refuses a path as a name: %j', async (name) => {
    await expect(createLocalProvider(options).getMachine(name)).rejects.toMatchObject({ kind: 'permanent' });
  });
});

describe('the offers of the local cloud', () => {
  const host: Host = { cpuName: 'CPU', cores: 4, memoryGb: 16, diskFreeGb: 99.9, committedGb: 0 };
  const ids = (change: Partial<Host>) => localOffers({ ...host, ...change }).map(({ id }) => id);

  it('are the sizes that fit the cores and the memory', () => {
    expect(ids({})).toEqual(['local-1c-2g', 'local-2c-4g', 'local-2c-8g', 'local-4c-8g']);
    expect(ids({ cores: 1, memoryGb: 4 })).toEqual(['local-1c-2g']);
    expect(ids({ memoryGb: 3 })).toEqual([]);
    expect(ids({ cores: 64, memoryGb: 256 })).toHaveLength(8);
  });

  it('cost 0.05 STAGI a core and 0.01 a GB of memory, and nothing while stopped', () => {
    const offer = localOffers(host).find(({ id }) => id === 'local-2c-8g');
    expect(offer).toMatchObject({ pricePerHour: 180_000n, stoppedPricePerHour: 0n, disk: { sizeGb: 99 } });
  });

  it('are limited by the available memory', () => {
    const available = (committedGb: number) => localOffers({ ...host, committedGb }).map((offer) => offer.available);
    expect(available(0)).toEqual([6, 3, 1, 1]);
    expect(available(6)).toEqual([3, 1, 0, 0]);
    expect(available(100)).toEqual([0, 0, 0, 0]);
  });
});

describe('a tar archive', () => {
  it('can be read by tar, with modes and owners', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'stagi-tar-'));
    const files = [
      { path: 'run', mode: 0o700, content: '#!/bin/sh\necho hé\n' },
      { path: 'etc/empty', mode: 0o644, content: '' },
      { path: 'block', mode: 0o600, content: 'x'.repeat(512) },
    ];
    await writeFile(join(dir, 'a.tar'), tar(files));
    const { stdout: listing } = await run('tar', ['--numeric-owner', '-tvf', join(dir, 'a.tar')]);
    expect(
      listing
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/)),
    ).toEqual([
      ['-rwx------', '0/0', '19', expect.any(String), expect.any(String), 'run'],
      ['-rw-r--r--', '0/0', '0', expect.any(String), expect.any(String), 'etc/empty'],
      ['-rw-------', '0/0', '512', expect.any(String), expect.any(String), 'block'],
    ]);
    const { stdout } = await run('tar', ['-xOf', join(dir, 'a.tar'), 'run']);
    expect(stdout).toBe(files[0]!.content);
    await rm(dir, { recursive: true });
  });
});

describe('the lock of a build', () => {
  const progress = { step: 'half-way', progress: 0.5, since: new Date('2026-01-01') };

  it('has one holder at a time, whose progress others can read', async () => {
    const name = `test-${process.pid}-a`;
    expect(await holderProgress(name)).toBeNull();
    const lock = await acquireLock(name, () => progress);
    expect(await acquireLock(name, () => progress)).toBeNull();
    expect(await holderProgress(name)).toEqual(progress);
    lock!.release();
    expect(await holderProgress(name)).toBeNull();
  });

  it('is released when its holder is killed', async () => {
    const name = `test-${process.pid}-b`;
    const script = `import { acquireLock } from ${JSON.stringify(join(import.meta.dirname, 'processLock.ts'))};
      await acquireLock('${name}', () => ({ step: '', progress: 0, since: new Date() }));
      console.log('held'); setInterval(() => {}, 1000);`;
    const child = execFile(process.execPath, ['--input-type=module', '-e', script]);
    await once(child.stdout!, 'data');
    expect(await acquireLock(name, () => progress)).toBeNull();
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    const lock = await acquireLock(name, () => progress);
    expect(lock).not.toBeNull();
    lock!.release();
  });
});
