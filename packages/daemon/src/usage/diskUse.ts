import { stat, statfs } from 'node:fs/promises';
import type { UsageSample } from '@stagi/contract/usageSample.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { isContainer } from './controlGroup.ts';
import { folderSizes } from './folderSizes.ts';
import { oneAtATime } from './oneAtATime.ts';

type Space = Pick<UsageSample['server'], 'disk' | 'dataDisk'>;

/** A network file system whose server is away does not answer. */
const TIMEOUT_MS = 5_000;
const UNKNOWN = { used: null, total: null };

/** Looks at the file systems of Docker and of the directories of containers. */
export function diskUse({ sizeOf = folderSizes(), isShared = isContainer } = {}): (roots: Roots) => Promise<Space> {
  const share = (path: string, whole: FileSystem) => ownShare(whole, sizeOf(path));
  return oneAtATime(
    { what: 'looking at the disks', timeoutMs: TIMEOUT_MS, unknown: { disk: UNKNOWN, dataDisk: null } },
    async (roots: Roots) => look(roots, (await isShared()) ? share : onlyFigures),
  );
}

interface Roots {
  docker: string | null;
  data: string | null;
}

interface FileSystem {
  device: number;
  used: number;
  free: number;
  total: number;
}

async function look(
  { docker, data }: Roots,
  figures: (path: string, whole: FileSystem) => Space['disk'],
): Promise<Space> {
  const [disk, dataDisk] = await Promise.all([spaceOf(docker ?? '/'), data === null ? null : spaceOf(data)]);
  return {
    disk: disk ? figures(docker ?? '/', disk) : UNKNOWN,
    dataDisk: data !== null && dataDisk && dataDisk.device !== disk?.device ? figures(data, dataDisk) : null,
  };
}

const onlyFigures = (_path: string, { used, total }: FileSystem) => ({ used, total });

/** The share of a disk that other machines use too: what this one has on it, and could have. */
function ownShare({ free }: FileSystem, used: number | null): Space['disk'] {
  return used === null ? UNKNOWN : { used, total: used + free };
}

/** Null when the folder does not exist. */
async function spaceOf(path: string): Promise<FileSystem | null> {
  try {
    const [{ dev }, { blocks, bfree, bavail, bsize }] = await Promise.all([stat(path), statfs(path)]);
    return { device: dev, used: (blocks - bfree) * bsize, free: bavail * bsize, total: blocks * bsize };
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'EACCES')) return null;
    throw error;
  }
}
