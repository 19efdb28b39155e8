import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode } from '../atomicFile.ts';
import { type Files, filesBelow, type Group, numberIn, ownGroup } from './controlGroup.ts';
import type { Counters } from './counters.ts';

export interface MachineCounters extends Omit<Counters, 'at'> {
  /** Without the page cache that can be dropped at once. */
  memoryBytes: number | null;
  memoryTotalBytes: number | null;
}

/** `/proc/stat` counts in USER_HZ, which is 100 on every architecture that the daemon runs on. */
const TICKS_PER_SECOND = 100;
const SECTOR_BYTES = 512;

/**
 * What this machine uses. A machine that is itself a container, as on the local cloud, is a control group of its host:
 * there `/proc` shows the host with all its tenants, and only the group's own figures count.
 */
export async function machineCounters(root = '/'): Promise<MachineCounters> {
  const files = filesBelow(root);
  const hostMemory = await memoryOfHost(files);
  const [own, network] = await Promise.all([ownGroup(files), networkBytes(root, files)]);
  if (own) return { ...(await countersOfGroup(files, own, hostMemory.total)), ...network };
  const [cpuSeconds, disks] = await Promise.all([cpuOfHost(files), diskBytesOfHost(root, files)]);
  return { cpuSeconds, ...disks, ...network, memoryBytes: hostMemory.used, memoryTotalBytes: hostMemory.total };
}

async function countersOfGroup(
  files: Files,
  group: Group,
  hostTotal: number | null,
): Promise<Omit<MachineCounters, 'receivedBytes' | 'sentBytes'>> {
  if (group.version === 2) {
    const [cpu, used, stat, most, io] = await Promise.all(
      ['cpu.stat', 'memory.current', 'memory.stat', 'memory.max', 'io.stat'].map((name) =>
        files(join(group.path, name)),
      ),
    );
    const usec = field(cpu, 'usage_usec');
    return {
      cpuSeconds: usec === null ? null : usec / 1e6,
      memoryBytes: withoutCache(numberIn(used), field(stat, 'inactive_file')),
      memoryTotalBytes: numberIn(most) ?? hostTotal,
      readBytes: sumOf(io, /\brbytes=(\d+)/g),
      writtenBytes: sumOf(io, /\bwbytes=(\d+)/g),
    };
  }
  const [cpu, used, stat, most, io] = await Promise.all([
    files(join(group.cpu, 'cpuacct.usage')),
    files(join(group.memory, 'memory.usage_in_bytes')),
    files(join(group.memory, 'memory.stat')),
    files(join(group.memory, 'memory.limit_in_bytes')),
    files(join(group.io, 'blkio.throttle.io_service_bytes')),
  ]);
  const nanoseconds = numberIn(cpu);
  return {
    cpuSeconds: nanoseconds === null ? null : nanoseconds / 1e9,
    memoryBytes: withoutCache(numberIn(used), field(stat, 'total_inactive_file')),
    memoryTotalBytes: numberIn(most),
    readBytes: sumOf(io, /^\d+:\d+ Read (\d+)$/gm),
    writtenBytes: sumOf(io, /^\d+:\d+ Write (\d+)$/gm),
  };
}

async function cpuOfHost(files: Files): Promise<number | null> {
  const line = /^cpu +(.*)$/m.exec((await files('proc/stat')) ?? '')?.[1];
  if (line === undefined) return null;
  // Time of guests is within that of user and nice; idle and iowait are not use.
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(/ +/).map(Number);
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND;
}

async function memoryOfHost(files: Files): Promise<{ used: number | null; total: number | null }> {
  const info = await files('proc/meminfo');
  const kilobytes = (name: string) =>
    numberIn(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(info ?? '')?.[1] ?? null);
  const [total, available] = [kilobytes('MemTotal'), kilobytes('MemAvailable')];
  return {
    used: total === null || available === null ? null : (total - available) * 1024,
    total: total === null ? null : total * 1024,
  };
}

/** Of whole disks. What stands above them (partitions, LVM, RAID, loops) would count the same bytes twice. */
async function diskBytesOfHost(root: string, files: Files): Promise<Pick<Counters, 'readBytes' | 'writtenBytes'>> {
  const stats = await files('proc/diskstats');
  if (stats === null) return { readBytes: null, writtenBytes: null };
  const disks = (await namesIn(join(root, 'sys/block'))).filter((name) => !/^(loop|ram|zram|dm-|md|sr|fd)/.test(name));
  const rows = stats
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((cells) => disks.includes(cells[2] ?? ''));
  const bytes = (cell: number) =>
    rows.length === 0 ? null : rows.reduce((sum, cells) => sum + Number(cells[cell]) * SECTOR_BYTES, 0);
  return { readBytes: bytes(5), writtenBytes: bytes(9) };
}

/** Of the interfaces that lead out of this machine: the hardware's, else all but those of Docker and the kernel. */
async function networkBytes(root: string, files: Files): Promise<Pick<Counters, 'receivedBytes' | 'sentBytes'>> {
  const rows = ((await files('proc/net/dev')) ?? '').split('\n').flatMap((line) => {
    const [, name, counts] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    return name && counts ? [{ name, cells: counts.trim().split(/\s+/).map(Number) }] : [];
  });
  const hardware: string[] = [];
  for (const { name } of rows)
    if ((await namesIn(join(root, 'sys/class/net', name, 'device'))).length > 0) hardware.push(name);
  const counted = rows.filter(({ name }) =>
    hardware.length > 0
      ? hardware.includes(name)
      : !/^(lo$|docker|br-|veth|virbr|cni|flannel|ifb|dummy|tun|sit|gre|ip6)/.test(name),
  );
  const sum = (cell: number) =>
    counted.length === 0 ? null : counted.reduce((total, { cells }) => total + (cells[cell] ?? 0), 0);
  return { receivedBytes: sum(0), sentBytes: sum(8) };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
}

/** Pages of files that were not read for a while are given up at once when memory is needed. */
export function withoutCache(used: number | null, inactiveFile: number | null): number | null {
  return used === null ? null : Math.max(0, used - (inactiveFile ?? 0));
}

function field(content: string | null | undefined, name: string): number | null {
  return numberIn(new RegExp(`^${name} (\\d+)$`, 'm').exec(content ?? '')?.[1] ?? null);
}

/** Null when nothing was counted yet: the kernel then lists no disk. */
function sumOf(content: string | null | undefined, pattern: RegExp): number | null {
  const found = [...(content ?? '').matchAll(pattern)];
  return found.length === 0 ? null : found.reduce((sum, match) => sum + Number(match[1]), 0);
}
