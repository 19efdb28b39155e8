import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { processesIn } from '@stagi/server/src/db/embeddedProcess.ts';
import { spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { emptyLoadReport, type LoadReport, lately, runUnderLoad } from './load.ts';

const DISK = '400m';
const LOOK_MS = 100;
const CHUNK = Buffer.alloc(1024 * 1024, 1);
/** A slow disk is simulated by stopping PostgreSQL for this part of every half second. */
const STOPPED_MS = 400;
const RUNNING_MS = 100;

/** Why a small disk cannot be created here; `null` when it can. */
export function diskUnavailableReason(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-disk-'));
  try {
    mount(folder);
    umount(folder);
    return null;
  } catch (error) {
    return `a small disk needs root and mount: ${(error as Error).message.trim().split('\n').at(-1)}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * A platform under load whose data has a disk of its own. The disk is filled to the last byte for `fullMs`, and
 * emptied. Then it is slow for `slowMs`: PostgreSQL with all its processes is stopped four fifths of the time, as if it
 * waited for the disk.
 */
export async function runDisk(
  { fullMs, slowMs }: { fullMs: number; slowMs: number },
  say: (line: string) => void,
): Promise<LoadReport> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-disk-'));
  mount(folder);
  try {
    const platform = await spawnPlatform({ STAGI_DATA: join(folder, 'data'), LOG_LEVEL: 'warn' });
    const dataDir = join(platform.dataDir, 'postgres');
    const { url } = await startEmbeddedPostgres({ dataDir, log: { info: () => {}, warn: () => {} } });
    const report = emptyLoadReport();
    await runUnderLoad(report, platform, url, async (run) => {
      const looks = await whileFull(join(folder, 'ballast'), fullMs, `${platform.url}/healthz`);
      if (looks === 0) report.wrong.push('nobody looked whether the platform lives');
      await run.comesBack();
      say(`disk full for ${fullMs / 1000} s: alive at each of n = ${looks} looks; ${lately(report)}`);
      await whileSlow(join(dataDir, 'cluster'), slowMs);
      await run.comesBack();
      say(`disk slow for ${slowMs / 1000} s: ${lately(report)}`);
    });
    return report;
  } finally {
    umount(folder);
    rmSync(folder, { recursive: true });
  }
}

/** Takes every free byte of the disk for this time; returns how often the platform was seen alive. */
async function whileFull(ballast: string, ms: number, healthz: string): Promise<number> {
  const file = openSync(ballast, 'w');
  let looks = 0;
  try {
    for (const end = Date.now() + ms; Date.now() < end; await pause(LOOK_MS)) {
      fill(file);
      const { status } = await fetch(healthz);
      if (status !== 200) throw new Error(`the platform says ${status} of itself`);
      looks += 1;
    }
  } finally {
    closeSync(file);
    rmSync(ballast);
  }
  return looks;
}

function fill(file: number): void {
  for (let size = CHUNK.length; size >= 4096; ) {
    try {
      writeSync(file, CHUNK, 0, size);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      size /= 2;
    }
  }
}

async function whileSlow(cluster: string, ms: number): Promise<void> {
  for (const end = Date.now() + ms; Date.now() < end; await pause(RUNNING_MS)) {
    const processes = processesIn(cluster).map(Number);
    signal(processes, 'SIGSTOP');
    await pause(STOPPED_MS);
    signal(processes, 'SIGCONT');
  }
}

function signal(processes: readonly number[], name: NodeJS.Signals): void {
  for (const pid of processes) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // The backend has exited meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function mount(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder], { stdio: 'pipe' });
}

function umount(folder: string): void {
  execFileSync('umount', [folder], { stdio: 'pipe' });
}
