import { stat, statfs } from 'node:fs/promises';
import type { UsageSample } from '@stagi/contract/usageSample.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { oneAtATime } from './oneAtATime.ts';

type Space = Pick<UsageSample['server'], 'disk' | 'dataDisk'>;

/** A network file system whose server is away does not answer. */
const TIMEOUT_MS = 5_000;
const UNKNOWN = { used: null, total: null };

/** Looks at the file systems of Docker and of the directories of containers. */
export function diskUse(): (roots: { docker: string | null; data: string | null }) => Promise<Space> {
  return oneAtATime(
    { what: 'looking at the disks', timeoutMs: TIMEOUT_MS, unknown: { disk: UNKNOWN, dataDisk: null } },
    look,
  );
}

async function look({ docker, data }: { docker: string | null; data: string | null }): Promise<Space> {
  const [disk, dataDisk] = await Promise.all([spaceOf(docker ?? '/'), data === null ? null : spaceOf(data)]);
  return {
    disk: disk ? { used: disk.used, total: disk.total } : UNKNOWN,
    dataDisk: dataDisk && dataDisk.device !== disk?.device ? { used: dataDisk.used, total: dataDisk.total } : null,
  };
}

/** Null when the folder does not exist. */
async function spaceOf(path: string): Promise<{ device: number; used: number; total: number } | null> {
  try {
    const [{ dev }, { blocks, bfree, bsize }] = await Promise.all([stat(path), statfs(path)]);
    return { device: dev, used: (blocks - bfree) * bsize, total: blocks * bsize };
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'EACCES')) return null;
    throw error;
  }
}
