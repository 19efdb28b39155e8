import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { UsageSample } from '@stagi/contract/usageSample.ts';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { container, createDaemon, slugOf, type TestDaemon } from '../testing/daemon.ts';
import { docker, ensureTestImage } from '../testing/image.ts';
import { type FakePlatform, startFakePlatform } from '../testing/platform.ts';
import { machineCounters } from './machineCounters.ts';

const SAMPLE_SECONDS = 2;
const BUSY = 'trap "exit 0" TERM; while :; do :; done';
/** Writes 200 MB, which the page cache then holds, and sleeps. */
const WRITES = 'trap "exit 0" TERM; dd if=/dev/zero of=/tmp/big bs=1M count=200; echo written; sleep 600 & wait';
const MEGABYTE = 1e6;
const LIMIT_BYTES = 64 * 2 ** 20;
/** Those that `machineCounters` reads, with control groups of either version. */
const KERNEL_FILES = [
  'proc/1/cgroup',
  'proc/stat',
  'proc/meminfo',
  'proc/net/dev',
  ...['cgroup.controllers', 'cpu.stat', 'memory.current', 'memory.max', 'memory.stat', 'io.stat'],
  ...['memory/memory.limit_in_bytes', 'memory/memory.usage_in_bytes', 'memory/memory.stat', 'cpuacct/cpuacct.usage'],
].map((name) => (name.startsWith('proc') ? name : `sys/fs/cgroup/${name}`));
const PRINTS_KERNEL_FILES = `trap "exit 0" TERM; for f in ${KERNEL_FILES.join(' ')}; do echo "## $f"; cat /$f 2>/dev/null; done; echo "## end"; sleep 600 & wait`;

let platform: FakePlatform;
let daemon: TestDaemon;
let nodes = 9_700_000;

beforeAll(() => ensureTestImage());
afterEach(async () => {
  await daemon?.cleanUp();
  await platform?.close();
});

async function start(sampleSeconds?: number): Promise<void> {
  platform = await startFakePlatform({ node: String(++nodes), ...(sampleSeconds ? { sampleSeconds } : {}) });
  daemon = await createDaemon(platform);
  daemon.start();
  await platform.until('a hello', () => platform.received.find(({ type }) => type === 'hello'));
}
const samples = (): UsageSample[] =>
  platform.received.flatMap((message) => (message.type === 'usage' ? [message.sample] : []));
const of = (id: number) => samples().flatMap(({ containers }) => containers.filter((one) => one.id === id));

/** What the kernel has counted for the processes of a container, and when. */
async function processTime(id: number): Promise<{ seconds: number; cpuSeconds: number }> {
  const { Titles, Processes } = await docker.getContainer(`stagi-${slugOf(id)}`).top();
  const pids = Processes.map((cells: string[]) => cells[Titles.indexOf('PID')]);
  const stats = await Promise.all(pids.map((pid: string | undefined) => readFile(`/proc/${pid}/stat`, 'utf8')));
  const ticks = stats.flatMap((stat) =>
    stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number),
  );
  return { seconds: performance.now() / 1000, cpuSeconds: ticks.reduce((sum, one) => sum + one, 0) / 100 };
}

describe('what the daemon measures', () => {
  it('is what a busy container gets of a core, and the server uses at least that', async () => {
    await start(SAMPLE_SECONDS);
    await platform.setDesired([container(1, BUSY)]);
    const cores = () => of(1).flatMap(({ cpu }) => (cpu === null ? [] : [cpu]));
    await platform.until('a sample with rates', () => cores().length >= 1);
    const [before, seen] = [await processTime(1), cores().length];
    await platform.until('some more samples', () => cores().length >= seen + 6);
    const after = await processTime(1);
    // Whatever else runs on this machine takes a part of the core.
    const wanted = (after.cpuSeconds - before.cpuSeconds) / (after.seconds - before.seconds);
    const measured = cores().slice(seen, seen + 6);
    const average = measured.reduce((sum, cpu) => sum + cpu, 0) / measured.length;
    console.log(
      `a busy container: n = ${measured.length} samples of ${average.toFixed(3)} cores, its processes ${wanted.toFixed(3)}`,
    );
    // Rates need two looks.
    expect(of(1)[0]!.cpu).toBeNull();
    expect(wanted).toBeGreaterThan(0.1);
    expect(average / wanted).toBeGreaterThan(0.8);
    expect(average / wanted).toBeLessThan(1.2);
    const { server } = samples().at(-1)!;
    expect(server.cpu).toBeGreaterThan(0.8 * wanted);
    expect(server.memory).toBeGreaterThan(0);
    expect(server.memory).toBeLessThan(server.memoryTotal!);
    expect(server.disk.used).toBeGreaterThan(0);
    expect(server.disk.used).toBeLessThan(server.disk.total!);
  });

  it('leaves the page cache out of the memory of a container', async () => {
    await start(SAMPLE_SECONDS);
    await platform.setDesired([container(2, WRITES)]);
    await platform.until('it has written', () => platform.logs.of(2).lines.some(({ text }) => text === 'written'));
    const seen = of(2).length;
    await platform.until('a sample after that', () => of(2).length > seen + 1);
    const { memory } = of(2).at(-1)!;
    const whole = (await docker.getContainer(`stagi-${slugOf(2)}`).stats({ stream: false })).memory_stats.usage;
    console.log(
      `after writing 200 MB: memory ${Math.round(memory! / MEGABYTE)} MB, with the cache ${Math.round(whole / MEGABYTE)} MB`,
    );
    expect(whole).toBeGreaterThan(150 * MEGABYTE);
    expect(memory).toBeLessThan(100 * MEGABYTE);
  });

  it('is that of its own control group on a machine that is a container', async () => {
    await start(SAMPLE_SECONDS);
    await platform.setDesired([container(5, PRINTS_KERNEL_FILES, { spec: { memoryBytes: LIMIT_BYTES } })]);
    const printed = () => platform.logs.of(5).lines.map(({ text }) => text);
    await platform.until('it has printed the files', () => printed().includes('## end'));
    const root = await mkdtemp(join(tmpdir(), 'stagid-root-'));
    try {
      const files = printed().join('\n').split(/^## /m).slice(1);
      for (const file of files) {
        const [path = '', ...lines] = file.split('\n');
        if (lines.join('').trim() === '') continue;
        await mkdir(dirname(join(root, path)), { recursive: true });
        await writeFile(join(root, path), lines.join('\n'));
      }
      const counted = await machineCounters(root);
      console.log(`a container as a machine: ${JSON.stringify(counted)}`);
      expect(counted.memoryTotalBytes).toBe(LIMIT_BYTES);
      expect(counted.memoryBytes).toBeGreaterThan(0);
      expect(counted.memoryBytes).toBeLessThan(LIMIT_BYTES);
      // The machine has counted hours.
      expect(counted.cpuSeconds).toBeGreaterThan(0);
      expect(counted.cpuSeconds).toBeLessThan(60);
      expect(counted.receivedBytes).not.toBeNull();
    } finally {
      await rm(root, { recursive: true });
    }
  });

  it('is not sent to a platform that does not ask for it', async () => {
    await start();
    await platform.setDesired([container(3, BUSY)]);
    const beats = () => platform.received.filter(({ type }) => type === 'heartbeat').length;
    await platform.until('some heartbeats', () => beats() >= 4);
    expect(samples()).toEqual([]);
  });

  it('of a container ends when it stops', async () => {
    await start(SAMPLE_SECONDS);
    await platform.setDesired([container(4, BUSY)]);
    await platform.until('a sample of it', () => of(4).length >= 1);
    await platform.setDesired([container(4, BUSY, { gen: 2, state: 'stopped' })]);
    await platform.until('it has stopped', () =>
      platform.inventory()?.containers.some(({ id, state }) => id === 4 && state === 'exited'),
    );
    const before = samples().length;
    await platform.until('two samples more', () => samples().length >= before + 2);
    expect(samples().at(-1)!.containers).toEqual([]);
  });
});
