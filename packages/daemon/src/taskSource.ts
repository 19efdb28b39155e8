import type { Readable } from 'node:stream';
import { text } from '@stagi/contract/text.ts';
import { errorText } from './log.ts';
import { checkPath, counted, entriesOf, type TarWriter } from './taskTar.ts';
import { TransferError } from './transferError.ts';

/**
 * Copies the archive of a commit: files keep their mode, directories may be written by every user of the image. Paths
 * that are no UTF-8 get replacement characters.
 */
export async function writeSource(tar: TarWriter, source: Readable, onBytes: (bytes: number) => void): Promise<void> {
  for await (const entry of readableEntries(source)) {
    const { name, type, size = 0, mode = 0o644, mtime, linkname } = entry.header;
    const path = name.replace(/\/$/, '');
    checkPath(path);
    const time = mtime ? { mtime } : {};
    switch (type) {
      case 'directory':
        entry.resume();
        await tar.directory(path, 0o777);
        break;
      case 'symlink':
        entry.resume();
        await tar.link(path, linkname ?? '', mtime ?? undefined);
        break;
      case 'file':
        await tar.file(path, { size, mode: mode & 0o777, ...time }, counted(entry, onBytes));
        break;
      default:
        throw new TransferError(text('{{path}} of the commit is no file', { path }), 'final');
    }
  }
}

async function* readableEntries(source: Readable): ReturnType<typeof entriesOf> {
  try {
    yield* entriesOf(source);
  } catch (error) {
    if (error instanceof TransferError) throw error;
    throw new TransferError(text('The platform cannot be reached: {{reason}}', { reason: errorText(error) }), 'later');
  }
}
