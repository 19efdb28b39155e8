import type { FileResult } from './results.ts';

const groups: { name: string; ms: number }[] = [];

/** Does `work` and notes its time under the name of a group of tests, for `printTimes`. Groups may run at the same time. */
export async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    groups.push({ name, ms: performance.now() - start });
  }
}

interface Run {
  installationMs: number;
  /** From the end of the installation. */
  testsMs: number;
  /** The check of types does the same work everywhere, so its seconds tell how fast this machine is. */
  typesSeconds?: number | undefined;
  files: readonly FileResult[];
}

const SLOWEST = 15;
const minutes = (ms: number) => `${(ms / 60_000).toFixed(1)} min`;

/** Where the time of a whole run went. */
export function printTimes({ installationMs, testsMs, typesSeconds, files }: Run): void {
  console.log(`\nInstallation ${minutes(installationMs)}, then ${minutes(testsMs)}; some of it at the same time:`);
  for (const { name, ms } of groups) console.log(`${minutes(ms).padStart(10)}  ${name}`);
  if (typesSeconds !== undefined)
    console.log(`The check of types took ${typesSeconds.toFixed(1)} s: compare runs of other machines by it.`);
  console.log('The slowest files:');
  const took = ({ from, until }: FileResult) => until - from;
  for (const file of files.toSorted((a, b) => took(b) - took(a)).slice(0, SLOWEST))
    console.log(`${`${(took(file) / 1000).toFixed(0)} s`.padStart(10)}  ${file.file}`);
}
