import { join } from 'node:path';
import { buildDaemon } from '../packages/daemon/build.ts';
import { lockFile } from './fileLock.mjs';
import { CACHE } from './run.ts';

/** Of several that are asked at once one builds, and the others find its archive. */
export async function buildDaemonOnce(): Promise<{ archiveBytes: number } | null> {
  const release = await lockFile(join(CACHE, 'daemon.lock'));
  try {
    return await buildDaemon();
  } finally {
    await release();
  }
}
