import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MiB = 1024 * 1024;

/** Content that does not compress. git stores it as it is. */
export async function writeNoise(path: string, bytes: number): Promise<void> {
  const file = createWriteStream(path);
  const block = randomBytes(4 * MiB);
  for (let written = 0, n = 0; written < bytes; written += block.length, n += 1) {
    block.writeUInt32LE(n, 0);
    if (!file.write(Buffer.from(block.subarray(0, Math.min(block.length, bytes - written))))) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

/** Options of git for what is about transfers: no compression. */
export const LARGE = ['-c', 'core.compression=0', '-c', 'core.bigFileThreshold=1m', '-c', 'pack.window=0'];

/** The size of all files below a folder. */
export const bytesIn = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
