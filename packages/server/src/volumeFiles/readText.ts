import type { FileContent, VolumeEntry } from '@stagi/contract/volumeFiles.ts';
import type { Context } from '../context.ts';
import { openFileStream, readBytes, readHead, type Volume } from './daemonFiles.ts';
import { nameOf, presentEntry } from './present.ts';

/** The beginning of a file as text. */
export async function readText(
  ctx: Pick<Context, 'streams'>,
  volume: Volume,
  path: string,
  maxBytes: number,
): Promise<{ entry: VolumeEntry; content: FileContent }> {
  const stream = await openFileStream(ctx, volume, { do: 'read', path, from: 0, length: maxBytes, etag: null });
  stream.end();
  const head = await readHead(stream);
  const bytes = await readBytes(stream, Math.min(head.length, maxBytes));
  const text = textOf(bytes, head.sizeBytes > head.length);
  return {
    entry: presentEntry({ ...head, name: nameOf(path) }),
    content: text === null ? { kind: 'binary' } : { kind: 'text', text, isCut: head.sizeBytes > head.length },
  };
}

/** Null: no UTF-8, or bytes that no text has. The last character of a cut text may be missing. */
function textOf(bytes: Buffer, isCut: boolean): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return null;
  }
}
