import { join } from 'node:path';
import { hasErrorCode, readFileIfExists } from '../atomicFile.ts';

export type Files = (path: string) => Promise<string | null>;

/** The content of a file below a root; null when there is none, or the kernel does not support it. */
export function filesBelow(root: string): Files {
  return async (path) => {
    try {
      return await readFileIfExists(join(root, path));
    } catch (error) {
      if (hasErrorCode(error, 'ENOTDIR', 'EOPNOTSUPP', 'EINVAL', 'EACCES')) return null;
      throw error;
    }
  };
}

export type Group =
  | { version: 2; path: string }
  | { version: 1; memory: string; cpu: string; limit: string; io: string };

/** The control group that this machine is; null for a machine of its own. */
export async function ownGroup(files: Files): Promise<Group | null> {
  const groups = (await files('proc/1/cgroup')) ?? '';
  // Where init moved itself to; the group above is the machine's.
  const pathIn = (pattern: RegExp) => (pattern.exec(groups)?.[1] ?? '/').replace(/\/(init|init\.scope)$/, '');
  if ((await files('sys/fs/cgroup/cgroup.controllers')) !== null) {
    const path = join('sys/fs/cgroup', pathIn(/^0::(.*)$/m));
    // The root group has no such file.
    return (await files(join(path, 'memory.current'))) === null ? null : { version: 2, path };
  }
  const locate = async (controller: string, file: string): Promise<string> => {
    const path = pathIn(new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, 'm'));
    // Docker shows a container its own group as the root of each hierarchy.
    const full = join('sys/fs/cgroup', controller, path);
    return (await files(join(full, file))) === null ? join('sys/fs/cgroup', controller) : full;
  };
  const memory = await locate('memory', 'memory.limit_in_bytes');
  const limit = numberIn(await files(join(memory, 'memory.limit_in_bytes')));
  const hostTotal = numberIn(/^MemTotal:\s+(\d+) kB$/m.exec((await files('proc/meminfo')) ?? '')?.[1]);
  if (limit === null || hostTotal === null || limit >= hostTotal * 1024) return null;
  return {
    version: 1,
    memory,
    cpu: await locate('cpuacct', 'cpuacct.usage'),
    limit: await locate('cpu', 'cpu.cfs_quota_us'),
    io: await locate('blkio', 'blkio.throttle.io_service_bytes'),
  };
}

/**
 * The CPUs that this machine may use at once, where it is a container with such a limit; null for a machine of its own.
 * Source: `cpu.max` in Documentation/admin-guide/cgroup-v2.rst of the Linux kernel, `cpu.cfs_*` in scheduler/sched-bwc.rst.
 */
export async function cpuLimit(root = '/'): Promise<number | null> {
  const files = filesBelow(root);
  const group = await ownGroup(files);
  if (group === null) return null;
  const [quota, period] =
    group.version === 2
      ? ((await files(join(group.path, 'cpu.max'))) ?? '').trim().split(' ')
      : [await files(join(group.limit, 'cpu.cfs_quota_us')), await files(join(group.limit, 'cpu.cfs_period_us'))];
  const [used, per] = [numberIn(quota), numberIn(period)];
  return used === null || per === null || per === 0 ? null : used / per;
}

/** Its disks are those of a host, which others use too. */
export async function isContainer(root = '/'): Promise<boolean> {
  return (await ownGroup(filesBelow(root))) !== null;
}

export function numberIn(content: string | null | undefined): number | null {
  return typeof content === 'string' && /^\d+$/.test(content.trim()) ? Number(content) : null;
}
