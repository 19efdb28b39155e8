import { errorText, log } from '../log.ts';
import type { FileDeps } from '../streams/fileStreams.ts';
import { RefusedStream } from '../streams/streamServer.ts';
import { closing, splitPath, withFolder } from './openBeneath.ts';
import type { UploadRecord } from './uploadRecords.ts';
import { openVolume } from './volumeRoot.ts';
import { discardUpload } from './writeFile.ts';

/** Nobody goes on with an upload after so long. */
export const ABANDONED_AFTER_MS = 24 * 3_600_000;

/** Removes what abandoned uploads have left in volumes. */
export async function sweepUploads(deps: FileDeps, now = Date.now()): Promise<void> {
  for (const record of deps.uploads.before(now - ABANDONED_AFTER_MS)) {
    try {
      await discard(deps, record);
      await deps.uploads.forget(record.upload);
    } catch (error) {
      log(`an abandoned upload could not be removed: ${errorText(error)}`);
    }
  }
}

async function discard(deps: FileDeps, { containerId, volume, path, upload }: UploadRecord): Promise<void> {
  try {
    const root = await openVolume(deps, containerId, volume);
    await closing(root, () => withFolder(root, splitPath(path).parent, (folder) => discardUpload(folder, upload)));
  } catch (error) {
    // The container, the volume or the folder is gone.
    if (!(error instanceof RefusedStream)) throw error;
  }
}
