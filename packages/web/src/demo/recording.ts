import { loadChunk } from '../lazyChunks.ts';
import { type Part, partOf, type Recording } from './recorded.ts';
import models from './recording/models.json?url';
import workspace from './recording/workspace.json?url';

const FILES: Record<Part, string> = { workspace, models };

const loaded = new Map<Part, Promise<Recording>>();

/** Fetched with the first call of its part; again where that has failed. */
export function recordingOf(path: string): Promise<Recording> {
  const part = partOf(path);
  const known = loaded.get(part);
  if (known) return known;
  const fetched = loadChunk(async () => {
    const response = await fetch(FILES[part]);
    if (!response.ok) throw new Error(`The recording was answered with ${response.status}`);
    return (await response.json()) as Recording;
  });
  loaded.set(part, fetched);
  fetched.catch(() => loaded.delete(part));
  return fetched;
}
