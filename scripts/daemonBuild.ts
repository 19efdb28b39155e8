import { join } from 'node:path';
import { buildDaemon, isDaemonBuilt } from '../packages/daemon/build.ts';
import { lockFile } from './fileLock.mjs';
import { refuseReadOnly } from './readOnly.mjs';
import { CACHE, stopAsked } from './run.ts';

/** One of several callers at once builds, and the others find its archive. */
export async function buildDaemonOnce(): Promise<{ archiveBytes: number } | null> {
  if (await isDaemonBuilt()) return null;
  refuseReadOnly('Its archive is not built of these sources', CACHE);
  const release = await lockFile(join(CACHE, 'daemon.lock'), { signal: stopAsked });
  try {
    return await buildDaemon();
  } finally {
    await release();
  }
}
