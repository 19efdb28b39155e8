import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { aMachine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { runOperator, spawnOperator } from '@stagi/server/src/testing/operator.ts';
import { spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { type Compared, compareRestored } from './backupCompare.ts';
import { aWriter, fillArchive, keepWriting, type Writes, type Written } from './backupWriters.ts';
import type { Random } from './random.ts';

export interface BackupPlan {
  writers: number;
  /** Platforms that are killed during a backup, backups that are killed, and restores: so many of each. */
  kills: number;
  /** Bytes that are there before anybody writes. */
  megabytes: number;
}

export interface BackupReport {
  backups: number;
  killedPlatforms: number;
  killedBackups: number;
  /** Restores that had not ended when they were killed. */
  killedRestores: number;
  writes: Writes;
  /** After all restores together. */
  compared: Compared & { journals: number };
  /** The last of each, which nobody killed. */
  backupMs: number;
  restoreMs: number;
  wrong: string[];
}

const OBJECT_BYTES = 8_000_000;
/** Where none has been measured yet. */
const SPAN_MS = 5_000;

interface Stage extends Written {
  settings: Record<string, string>;
  place: string;
  report: BackupReport;
}

/**
 * Backups of a platform on which people write: objects, commits, storages that are charged each second. The platform is
 * killed, or the backup. Whole backups are restored to another place, by a restore that is killed too, and compared.
 */
export async function runBackups(plan: BackupPlan, random: Random, say: (line: string) => void): Promise<BackupReport> {
  const app = await startTestApp({}, { role: 'api' });
  const place = mkdtempSync(join(tmpdir(), 'stagi-backups-'));
  const machine = aMachine();
  const settings = {
    DATABASE_URL: app.databaseUrl,
    STAGI_DATA: app.dataDir,
    STAGI_ENVIRONMENT: 'test',
    METERING_SECONDS: '1',
    LOCAL_CLOUD: 'off',
    LOG_LEVEL: 'fatal',
  };
  const platform = await spawnPlatform(settings);
  const writes: Writes = { objects: 0, deletions: 0, commits: 0, storages: 0 };
  const report: BackupReport = {
    backups: 0,
    killedPlatforms: 0,
    killedBackups: 0,
    killedRestores: 0,
    writes,
    compared: { objects: 0, repositories: 0, commits: 0, journals: 0, wrong: [] },
    backupMs: 0,
    restoreMs: 0,
    wrong: [],
  };
  const stage: Stage = { app, platform, machine, random, writes, settings, place, report };
  const ended = new AbortController();
  try {
    await fillArchive(stage, plan.megabytes, OBJECT_BYTES);
    const writers = await Promise.all(Array.from({ length: plan.writers }, (_, n) => aWriter(stage, n)));
    const writing = Promise.all(writers.map((writer) => keepWriting(stage, writer, ended.signal)));
    for (let n = 0; n < plan.kills; n++) {
      await backUp(stage, { victim: 'platform' });
      await backUp(stage, { victim: 'backup' });
      await restoreElsewhere(stage, { isKilled: true });
      say(`backup: round ${n + 1} of ${plan.kills}, ${JSON.stringify(writes)}`);
    }
    await backUp(stage, { victim: null });
    ended.abort();
    await writing;
    await restoreElsewhere(stage, { isKilled: false });
    return report;
  } finally {
    ended.abort();
    await platform.remove();
    machine.remove();
    rmSync(place, { recursive: true, force: true });
    await app.close();
  }
}

/** Kills the platform or the backup somewhere within it. Answers when there is a whole one. */
async function backUp(stage: Stage, { victim }: { victim: 'platform' | 'backup' | null }): Promise<void> {
  const { platform, place, settings, random, report } = stage;
  const began = performance.now();
  const backup = spawnOperator(settings, 'backup', place, '--keep', '2');
  if (victim) await Promise.race([pause(random() * (report.backupMs || SPAN_MS)), backup.ended]);
  if (victim === 'backup') {
    backup.kill();
    await backup.ended;
    report.killedBackups += 1;
    return backUp(stage, { victim: null });
  }
  if (victim === 'platform') {
    await platform.stop('SIGKILL');
    report.killedPlatforms += 1;
    await platform.start();
  }
  const { code, out } = await backup.ended;
  report.backupMs = performance.now() - began;
  report.backups += 1;
  if (code !== 0) report.wrong.push(`a backup ended with ${code}: ${out}`);
  const absent = /^Not there: +(.*)$/m.exec(out)?.[1];
  if (absent) report.wrong.push(`a backup did not find ${absent}`);
  const verified = await runOperator(settings, 'backup', 'verify', place);
  if (verified.code !== 0) report.wrong.push(`a backup is not whole: ${verified.out}`);
}

async function restoreElsewhere(stage: Stage, { isKilled }: { isKilled: boolean }): Promise<void> {
  const { app, place, settings, random, report } = stage;
  const database = await createTestDatabase({ isEmpty: true });
  const folder = mkdtempSync(join(tmpdir(), 'stagi-restored-'));
  cpSync(join(app.dataDir, 'secret.key'), join(folder, 'secret.key'));
  const target = { ...settings, DATABASE_URL: database.url, STAGI_DATA: folder };
  try {
    if (isKilled) {
      const restore = spawnOperator(target, 'restore', place);
      await Promise.race([pause(random() * (report.restoreMs || SPAN_MS)), restore.ended]);
      restore.kill();
      if ((await restore.ended).code !== 0) report.killedRestores += 1;
    }
    // One that had ended already is refused, and compared as it is.
    const began = performance.now();
    const { code, out } = await runOperator(target, 'restore', place);
    report.restoreMs = performance.now() - began;
    const wasThere = isKilled && out.includes('The database is not empty');
    if (!wasThere) checkRestore(report, code, out);
    const { compared } = report;
    const found = await compareRestored(database.url, folder);
    for (const kind of ['objects', 'repositories', 'commits'] as const) compared[kind] += found[kind];
    compared.wrong.push(...found.wrong);
  } finally {
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function checkRestore({ wrong, compared }: BackupReport, code: number | string, out: string): void {
  if (code !== 0 || out.includes('LOST')) wrong.push(`a restore ended with ${code}: ${out}`);
  const [, journals = '0', problems = 'not verified'] = /^Ledger: (\d+) journals verified, (.*)$/m.exec(out) ?? [];
  compared.journals += Number(journals);
  if (problems !== 'no problem.') wrong.push(`the ledger: ${problems}`);
}

/** Prints the figures and answers what is wrong. */
export function reportBackups({ kills, megabytes }: BackupPlan, report: BackupReport): string[] {
  const { writes, compared } = report;
  console.log(
    `backup: ${report.backups} whole ones, ${report.killedPlatforms} platforms, ${report.killedBackups} backups and ` +
      `${report.killedRestores} restores killed; acknowledged writes: ${JSON.stringify(writes)}`,
  );
  console.log(
    `backup: compared ${compared.objects} objects, ${compared.repositories} repositories, ${compared.commits} commits, ` +
      `${compared.journals} journals`,
  );
  console.log(
    `backup: with ${megabytes} MB the last took ${(report.backupMs / 1000).toFixed(1)} s, its restore ${(report.restoreMs / 1000).toFixed(1)} s`,
  );
  const failures = [...report.wrong, ...compared.wrong];
  if (report.killedPlatforms !== kills || report.killedBackups !== kills) failures.push('not all were killed');
  if (kills > 0 && report.killedRestores === 0) failures.push('no restore was killed before its end');
  for (const [kind, n] of [...Object.entries(writes), ...Object.entries(compared)])
    if (n === 0) failures.push(`no ${kind}`);
  return failures;
}
