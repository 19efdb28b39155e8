import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { errorText, log } from '../log.ts';

const EVERY_MS = 5 * 60_000;
const TIMEOUT_MS = 10 * 60_000;

interface Known {
  bytes: number | null;
  countedAt: number;
  isUnderWay: boolean;
}

/**
 * The bytes of folders, counted in the background every five minutes: the size as counted last, null at first. What is
 * mounted below is not counted.
 */
export function folderSizes(count = countBytes): (path: string) => number | null {
  const known = new Map<string, Known>();
  return (path) => {
    const one = known.get(path) ?? { bytes: null, countedAt: Number.NEGATIVE_INFINITY, isUnderWay: false };
    known.set(path, one);
    if (!one.isUnderWay && performance.now() - one.countedAt > EVERY_MS) {
      one.isUnderWay = true;
      count(path)
        .then((bytes) => {
          one.bytes = bytes;
        })
        .catch((error: unknown) => log(`the size of ${path} cannot be counted: ${errorText(error)}`))
        .finally(() => {
          one.countedAt = performance.now();
          one.isUnderWay = false;
        });
    }
    return one.bytes;
  };
}

/** Files may go while it counts: `du` then prints its sum, and ends with 1. */
async function countBytes(path: string): Promise<number | null> {
  const options = { timeout: TIMEOUT_MS, maxBuffer: 64 * 2 ** 20 };
  const { stdout } = await run('nice', ['-n', '19', 'du', '-sx', '--block-size=1', '--', path], options).catch(
    (error: { stdout?: string }) => {
      if (error.stdout) return { stdout: error.stdout };
      throw error;
    },
  );
  return /^\d+/.test(stdout) ? Number.parseInt(stdout, 10) : null;
}

const run = promisify(execFile);
