import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { UsageSample } from '@stagi/contract/usageSample.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countersFrom } from './containerStats.ts';
import { cpuLimit } from './controlGroup.ts';
import { ratesBetween } from './counters.ts';
import { diskUse } from './diskUse.ts';
import { machineCounters } from './machineCounters.ts';
import { onlyFigures } from './sampler.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stagid-root-'));
});
afterEach(() => rm(root, { recursive: true }));

async function files(content: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(content)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

/** The host with all its tenants, as each of its containers sees it. */
const HOST = {
  'proc/stat': 'cpu  5225622 70521 1021501 1229040 16130 0 19770 19588 0 0\ncpu0 2616062 36395 507157 615550\n',
  'proc/meminfo': 'MemTotal:       24731708 kB\nMemFree:        16132924 kB\nMemAvailable:   20060368 kB\n',
  'proc/net/dev': [
    'Inter-|   Receive                                                |  Transmit',
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
    '    lo: 115673518961 9314220    0    0    0     0          0         0 115673518961 9314220    0    0    0     0       0          0',
    '  eth0: 14724953505  614343    0    0    0     0          0         0 61496770  455039    0    0    0     0       0          0',
    'docker0:  105091    1211    0    0    0     0          0         0   449672    3153    0  217    0     0       0          0',
    'veth1f0:  777    1    0    0    0     0          0         0   888    3    0  0    0     0       0          0',
    '',
  ].join('\n'),
  'proc/diskstats': [
    '   7       0 loop0 11 0 28 0 0 0 0 0 0 0 0',
    ' 259       0 nvme0n1 100 0 2000 0 50 0 1000 0 0 0 0',
    ' 259       1 nvme0n1p1 90 0 1900 0 40 0 900 0 0 0 0',
    ' 253       0 dm-0 90 0 1900 0 40 0 900 0 0 0 0',
    '',
  ].join('\n'),
  'sys/block/nvme0n1/size': '1',
  'sys/block/dm-0/size': '1',
  'sys/block/loop0/size': '1',
};
const OF_HOST = {
  cpuSeconds: (5225622 + 70521 + 1021501 + 19770 + 19588) / 100,
  memoryBytes: (24731708 - 20060368) * 1024,
  memoryTotalBytes: 24731708 * 1024,
  receivedBytes: 14724953505,
  sentBytes: 61496770,
  readBytes: 2000 * 512,
  writtenBytes: 1000 * 512,
};

describe('what a machine uses', () => {
  it('is what /proc tells on a machine of its own, with control groups of either version', async () => {
    await files({
      ...HOST,
      'proc/1/cgroup': '0::/init.scope\n',
      'sys/fs/cgroup/cgroup.controllers': 'cpu io memory\n',
    });
    expect(await machineCounters(root)).toEqual(OF_HOST);
    await rm(join(root, 'sys/fs'), { recursive: true });
    await files({
      'proc/1/cgroup': '4:memory:/init.scope\n2:cpu,cpuacct:/init.scope\n',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      'sys/fs/cgroup/memory/memory.usage_in_bytes': '7439695872\n',
    });
    expect(await machineCounters(root)).toEqual(OF_HOST);
  });

  it.each([
    ['in a namespace of its own', '0::/\n', ''],
    ['after its init moved to a group below', '0::/init\n', ''],
    ['in the namespace of its host', '0::/docker/4f1c/init\n', 'docker/4f1c/'],
  ])('is that of its own control group, version 2, %s', async (_name, groups, place) => {
    const group = `sys/fs/cgroup/${place}`;
    await files({
      ...HOST,
      'proc/1/cgroup': groups,
      'sys/fs/cgroup/cgroup.controllers': 'cpu io memory\n',
      [`${group}cpu.stat`]: 'usage_usec 12500000\nuser_usec 10000000\nsystem_usec 2500000\n',
      [`${group}memory.current`]: '900000000\n',
      [`${group}memory.max`]: '2147483648\n',
      [`${group}memory.stat`]: 'anon 300000000\nfile 500000000\ninactive_file 400000000\nactive_file 100000000\n',
      [`${group}io.stat`]:
        '259:0 rbytes=1000 wbytes=200 rios=1 wios=2 dbytes=0 dios=0\n253:0 rbytes=10 wbytes=2 rios=1 wios=2\n',
    });
    expect(await machineCounters(root)).toEqual({
      cpuSeconds: 12.5,
      memoryBytes: 500_000_000,
      memoryTotalBytes: 2147483648,
      receivedBytes: OF_HOST.receivedBytes,
      sentBytes: OF_HOST.sentBytes,
      readBytes: 1010,
      writtenBytes: 202,
    });
  });

  it('is that of its own control group, version 1, which Docker shows as the root', async () => {
    await files({
      ...HOST,
      'proc/1/cgroup': '7:blkio:/docker/4f1c\n4:memory:/docker/4f1c\n2:cpuacct:/docker/4f1c\n',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': '2147483648\n',
      'sys/fs/cgroup/memory/memory.usage_in_bytes': '900000000\n',
      'sys/fs/cgroup/memory/memory.stat': 'cache 1\ninactive_file 1\ntotal_inactive_file 400000000\n',
      'sys/fs/cgroup/cpuacct/cpuacct.usage': '12500000000\n',
      'sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes':
        '8:0 Read 1000\n8:0 Write 200\n8:0 Sync 1200\n8:0 Async 0\n8:0 Total 1200\nTotal 1200\n',
    });
    expect(await machineCounters(root)).toMatchObject({
      cpuSeconds: 12.5,
      memoryBytes: 500_000_000,
      memoryTotalBytes: 2147483648,
      readBytes: 1000,
      writtenBytes: 200,
    });
  });

  it('counts the network interfaces of the hardware alone where there are any', async () => {
    await files({ ...HOST, 'sys/class/net/eth0/device/vendor': '0x1af4\n' });
    await files({ 'proc/net/dev': `${HOST['proc/net/dev']} bond0: 5 0 0 0 0 0 0 0 6 0 0 0 0 0 0 0\n` });
    expect(await machineCounters(root)).toMatchObject({ receivedBytes: 14724953505, sentBytes: 61496770 });
  });

  it('is unknown where nothing tells it, never 0', async () => {
    expect(await machineCounters(root)).toEqual({
      cpuSeconds: null,
      memoryBytes: null,
      memoryTotalBytes: null,
      receivedBytes: null,
      sentBytes: null,
      readBytes: null,
      writtenBytes: null,
    });
  });
});

describe('the CPUs of a machine', () => {
  const V1 = {
    'proc/1/cgroup': '7:blkio:/docker/4f1c\n4:memory:/docker/4f1c\n2:cpu,cpuacct:/docker/4f1c\n',
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '2147483648\n',
  };
  const V2 = {
    'proc/1/cgroup': '0::/\n',
    'sys/fs/cgroup/cgroup.controllers': 'cpu\n',
    'sys/fs/cgroup/memory.current': '1\n',
  };
  it.each<[string, Record<string, string>, number | null]>([
    [
      'a machine of its own',
      { 'proc/1/cgroup': '0::/init.scope\n', 'sys/fs/cgroup/cgroup.controllers': 'cpu\n' },
      null,
    ],
    ['one core, version 2', { ...V2, 'sys/fs/cgroup/cpu.max': '100000 100000\n' }, 1],
    ['one and a half', { ...V2, 'sys/fs/cgroup/cpu.max': '75000 50000\n' }, 1.5],
    ['no limit, version 2', { ...V2, 'sys/fs/cgroup/cpu.max': 'max 100000\n' }, null],
    ['no such file', V2, null],
    [
      'two cores, version 1',
      { ...V1, 'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '200000\n', 'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' },
      2,
    ],
    [
      'no limit, version 1',
      { ...V1, 'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n', 'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' },
      null,
    ],
  ])('are those of its control group: %s', async (_, group, cores) => {
    await files({ ...HOST, ...group });
    expect(await cpuLimit(root)).toBe(cores);
  });
});

describe('the disk of a machine', () => {
  it('is its own share where others use the disk too, and the whole one else', async () => {
    const roots = { docker: root, data: null };
    const whole = await diskUse({ isShared: async () => false })(roots);
    const { disk } = await diskUse({ isShared: async () => true, sizeOf: () => 5_000_000 })(roots);
    expect(disk.used).toBe(5_000_000);
    expect(disk.total).toBeGreaterThan(5_000_000);
    expect(disk.total!).toBeLessThan(whole.disk.total!);
    const unknown = await diskUse({ isShared: async () => true, sizeOf: () => null })(roots);
    expect(unknown.disk).toEqual({ used: null, total: null });
  });

  it('is counted with everything below it', async () => {
    await writeFile(join(root, 'weights'), Buffer.alloc(3_000_000));
    const look = diskUse({ isShared: async () => true });
    await expect
      .poll(async () => (await look({ docker: root, data: null })).disk.used)
      .toBeGreaterThanOrEqual(3_000_000);
  });
});

describe('rates', () => {
  const at = (ms: number, cpuSeconds: number | null, receivedBytes: number | null) => ({
    at: ms,
    cpuSeconds,
    receivedBytes,
    sentBytes: null,
    readBytes: null,
    writtenBytes: null,
  });

  it('are averages of the time between two looks; a counter that began anew has none', () => {
    expect(ratesBetween(at(0, 10, 1000), at(15_000, 25, 4000))).toMatchObject({ cpu: 1, received: 200, sent: null });
    expect(ratesBetween(at(0, 10, 1000), at(15_000, 2, 1000))).toMatchObject({ cpu: null, received: 0 });
    expect(ratesBetween(undefined, at(15_000, 2, 1))).toMatchObject({ cpu: null, received: null });
    expect(ratesBetween(at(5, 1, 1), at(5, 2, 2))).toMatchObject({ cpu: null, received: null });
  });
});

describe("Docker's figures of a container", () => {
  const usage = { cpu_usage: { total_usage: 1_988_660_701 } };

  it('are read with control groups of either version', () => {
    const answer = (stats: object) =>
      countersFrom({
        read: '2026-11-26T21:39:42.373Z',
        cpu_stats: usage,
        memory_stats: { usage: 900, stats },
        networks: { eth0: { rx_bytes: 646, tx_bytes: 1 }, eth1: { rx_bytes: 4, tx_bytes: 2 } },
        blkio_stats: {
          io_service_bytes_recursive: [
            { major: 8, minor: 0, op: 'Read', value: 10 },
            { major: 8, minor: 0, op: 'write', value: 20 },
            { major: 8, minor: 0, op: 'Total', value: 30 },
          ],
        },
      });
    const wanted = {
      at: Date.parse('2026-11-26T21:39:42.373Z'),
      cpuSeconds: 1.988660701,
      memoryBytes: 500,
      receivedBytes: 650,
      sentBytes: 3,
      readBytes: 10,
      writtenBytes: 20,
    };
    expect(answer({ inactive_file: 400 })).toEqual(wanted);
    expect(answer({ inactive_file: 1, total_inactive_file: 400 })).toEqual(wanted);
  });

  it('are unknown where Docker leaves them out, and none of a container that does not run', () => {
    const bare = { read: '2026-11-26T21:39:42Z', cpu_stats: {}, memory_stats: {}, networks: null, blkio_stats: {} };
    expect(countersFrom(bare)).toMatchObject({
      cpuSeconds: null,
      memoryBytes: null,
      receivedBytes: null,
      readBytes: null,
    });
    expect(countersFrom({ ...bare, read: '0001-01-01T00:00:00Z' })).toBeNull();
  });
});

describe('a sample', () => {
  it('has null for a figure that the platform would refuse', () => {
    const rates = { cpu: 1, received: 0, sent: -1, read: 1e19, written: Number.NaN };
    const sent = onlyFigures({
      server: { ...rates, memory: 5, memoryTotal: null, disk: { used: -4096, total: 100 }, dataDisk: null },
      gpus: [{ index: 0, use: 1e30, memory: 1, memoryTotal: 2, temperature: 3, power: 4 }],
      containers: [{ id: 7, memory: -1, ...rates }],
    });
    const known = { cpu: 1, received: 0, sent: null, read: null, written: null };
    expect(sent).toEqual({
      server: { ...known, memory: 5, memoryTotal: null, disk: { used: null, total: 100 }, dataDisk: null },
      gpus: [{ index: 0, use: null, memory: 1, memoryTotal: 2, temperature: 3, power: 4 }],
      containers: [{ id: 7, memory: null, ...known }],
    });
    expect(UsageSample.parse(sent)).toEqual(sent);
  });
});
