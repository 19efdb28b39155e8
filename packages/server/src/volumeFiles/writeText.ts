import { randomUUID } from 'node:crypto';
import { Written } from '@stagi/contract/daemonFiles.ts';
import type { VolumeEntry } from '@stagi/contract/volumeFiles.ts';
import type { Context } from '../context.ts';
import { StreamRefused } from '../nodes/streamHub.ts';
import { openFileStream, publicly, readAnswer, type Volume } from './daemonFiles.ts';
import { nameOf, presentEntry } from './present.ts';

/** Writes a whole text file. With an etag it replaces only the file that had it. */
export async function writeText(
  ctx: Pick<Context, 'streams'>,
  volume: Volume,
  { path, text, etag }: { path: string; text: string; etag: string | null },
): Promise<VolumeEntry> {
  const bytes = Buffer.from(text);
  const replaces = etag === null ? ({ nothing: true } as const) : { etag };
  const operation = { do: 'write', path, at: 0, total: bytes.length, upload: randomUUID(), replaces } as const;
  const stream = await openFileStream(ctx, volume, operation);
  stream.end(bytes);
  const written = await readAnswer(stream, Written);
  if (written.state === 'refused') throw publicly(new StreamRefused(written.status, written.reason));
  if (written.state === 'partial') throw new Error(`${written.sizeBytes} of ${bytes.length} bytes were written`);
  return presentEntry({ ...written.facts, name: nameOf(path) });
}
