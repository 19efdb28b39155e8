import type { Readable } from 'node:stream';

/** What ends a transfer has to end it within 2 s; this machine also does other things. */
export const CUT_WITHIN_MS = 3_500;

/**
 * When the rest of a download broke off; NaN: it came to its end. It is read at about 5 MB/s: slowly enough that it does
 * not end before the time is over, and fast enough that what the sockets hold does not hide the cut.
 */
export async function readUntilCut(download: Readable): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  download.once('error', () => resolve(Date.now())).once('end', () => resolve(Number.NaN));
  const timer = setInterval(() => download.read(Math.min(100 * 1024, download.readableLength) || undefined), 20);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}
