import { constants } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { PassThrough, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { memberName } from '@stagi/contract/memberNames.ts';
import { text } from '@stagi/contract/text.ts';
import { MAX_FOLDER_DEPTH, UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { ZipFile } from 'yazl';
import { RefusedStream } from '../streams/streamServer.ts';
import { shownName } from './listFolder.ts';
import { contentPath, type Entry, type Folder, openContent, openEntry } from './openBeneath.ts';

const CHUNK_BYTES = 256 * 1024;
/** Each entry stays in memory until the end, for the directory of the archive. */
const MAX_ENTRIES = 500_000;

/**
 * A ZIP file of all files and folders below, stored as they are. Links, devices and other mounts are left out. Member
 * names are made of names alone, and hold nothing that some system reads as a path.
 */
export function archiveFolder(folder: Folder, top: string, signal: AbortSignal): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as unknown as Readable;
  const fail = (error: unknown) => void output.destroy(error instanceof Error ? error : new Error(String(error)));
  zip.on('error', fail);
  addFolder(zip, folder, `${memberName(top)}/`, { signal, count: 0 }, 0)
    .then(() => zip.end())
    .catch(fail);
  return output;
}

interface Walk {
  signal: AbortSignal;
  count: number;
}

async function addFolder(zip: ZipFile, folder: Folder, path: string, walk: Walk, depth: number): Promise<void> {
  if (depth > MAX_FOLDER_DEPTH) throw new RefusedStream(409, text('Folders are nested too deep: at most 100'));
  const { mtime, mode } = await folder.handle.stat();
  zip.addEmptyDirectory(path, { mtime, mode: mode & 0o40777 });
  for await (const entry of await opendir(contentPath(folder), { encoding: 'buffer' as never })) {
    walk.signal.throwIfAborted();
    const name = entry.name as unknown as Buffer;
    const shown = shownName(name).name;
    if (shown.startsWith(UPLOAD_PREFIX)) continue;
    const opened = await openEntry(folder, name);
    if (!opened) continue;
    try {
      walk.count += 1;
      if (walk.count > MAX_ENTRIES) throw new RefusedStream(409, text('The folder has more than 500,000 entries'));
      if (opened.mount !== folder.mount) continue;
      const member = path + memberName(shown);
      if (opened.kind === 'folder') await addFolder(zip, opened, `${member}/`, walk, depth + 1);
      else if (opened.kind === 'file') await addFile(zip, opened, member, walk.signal);
    } finally {
      await opened.handle.close();
    }
  }
}

/** One at a time: the next is opened when this one has been read. */
async function addFile(zip: ZipFile, entry: Entry, member: string, signal: AbortSignal): Promise<void> {
  const file = await openContent(entry, constants.O_RDONLY);
  try {
    const { mtime, mode } = await file.stat();
    const content = new PassThrough({ highWaterMark: CHUNK_BYTES });
    // Once aborted, `finished` hears of no error any more: nobody else would.
    content.on('error', () => {});
    zip.addReadStream(content, member, { mtime, mode: mode & 0o100777, compress: false });
    const source = file.createReadStream({ autoClose: false, highWaterMark: CHUNK_BYTES, signal });
    source.on('error', (error) => content.destroy(error));
    source.pipe(content);
    await finished(content, { signal });
  } finally {
    await file.close();
  }
}
