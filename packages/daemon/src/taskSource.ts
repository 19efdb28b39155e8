import type { Readable } from 'node:stream';
import { pathText } from '@stagi/contract/codePath.ts';
import { text } from '@stagi/contract/text.ts';
import { type ArchiveEntry, archiveEntries } from './commitArchive.ts';
import { errorText } from './log.ts';
import { checkPath, counted, type TarWriter } from './taskTar.ts';
import { TransferError } from './transferError.ts';

/** Copies the archive of a commit: files keep their mode, directories may be written by every user of the image. */
export async function writeSource(tar: TarWriter, source: Readable, onBytes: (bytes: number) => void): Promise<void> {
  for await (const { path, type, size, mode, mtime, target, content } of readableEntries(source)) {
    checkPath(path);
    switch (type) {
      case 'directory':
        await tar.directory(path, 0o777);
        break;
      case 'symlink':
        await tar.link(path, target, mtime);
        break;
      case 'file':
        await tar.file(path, { size, mode: mode & 0o777, mtime }, counted(content, onBytes));
        break;
      case 'other':
        throw new TransferError(text('{{path}} of the commit is no file', { path: pathText(path) }), 'final');
    }
  }
}

async function* readableEntries(source: Readable): AsyncGenerator<ArchiveEntry> {
  try {
    yield* archiveEntries(source);
  } catch (error) {
    if (error instanceof TransferError) throw error;
    throw new TransferError(text('The platform cannot be reached: {{reason}}', { reason: errorText(error) }), 'later');
  }
}
