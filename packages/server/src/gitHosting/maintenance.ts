import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Context } from '../context.ts';
import { removeUnfinished } from '../git/repository.ts';
import { GitError, runGit } from '../git/run.ts';
import { writeCommitGraph } from '../git/upkeep.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { refreshProject } from '../projects/recordPush.ts';
import { compareRepositories } from './compareRepositories.ts';
import { fsckSettings } from './fsckSettings.ts';
import { removeLeftovers } from './leftovers.ts';

const SWEEP_MS = 5 * 60_000;
const CARE_MS = 10 * 60_000;
const WEEK_MS = 7 * 24 * 60 * 60_000;
/** By UTC: from then on for so many hours few people push. */
const OFF_PEAK = { hour: 1, hours: 4 };
/** Each push leaves a pack, and each read looks into all of them. */
const MAX_PACKS = 50;
/** An operator who approved a removal waits no longer for it. */
const COMPARE_MS = 60 * 60_000;
const STEP_MS = 60 * 60_000;
const REPOSITORY = /^[0-9a-f-]{36}\.git$/;
/** In a repository: its age is that of the last care. */
const STAMP = 'stagi-cared-for';

/**
 * Sweeps leftovers of killed git processes, quarantines repositories without a project, checks every repository once a week
 * and repacks it.
 */
export function startGitMaintenance(ctx: Context): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const loops = [
    repeatEvery(ctx, SWEEP_MS, 'sweeping leftovers of git', () => sweepAll(ctx)),
    repeatEvery(ctx, COMPARE_MS, 'comparing repositories with projects', () => compareRepositories(ctx)),
    repeatEvery(ctx, CARE_MS, 'maintaining repositories', () => careForAll(ctx, stopping.signal), CARE_MS),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** Removes leftovers in every repository, and of repositories. */
export async function sweepAll({ config, log }: Pick<Context, 'config' | 'log'>, options?: { olderThanMs: number }) {
  for (const dir of await repositories(config.repositoriesDir)) {
    const removed = await removeLeftovers(dir, options);
    if (removed.length > 0) log.info({ dir, removed }, 'leftovers of git removed');
  }
  const unfinished = await removeUnfinished(config);
  if (unfinished > 0) log.info({ unfinished }, 'leftovers of repositories removed');
}

/** Checks and repacks what is due. */
export async function careForAll(ctx: Context, signal: AbortSignal): Promise<void> {
  for (const dir of await repositories(ctx.config.repositoriesDir)) {
    if (signal.aborted) return;
    const isOffPeak = (ctx.clock.now().getUTCHours() - OFF_PEAK.hour + 24) % 24 < OFF_PEAK.hours;
    const isWeekly = isOffPeak && (await ageOf(join(dir, STAMP))) > WEEK_MS;
    if (!isWeekly && (await packsOf(dir)) <= MAX_PACKS) continue;
    try {
      await careFor(ctx, dir, { check: isWeekly, signal });
    } catch (error) {
      if (signal.aborted) return;
      ctx.log.error({ err: error, dir }, 'a repository could not be maintained');
    }
  }
}

/** Checks a repository, if asked to, and repacks it. What nothing refers to is removed after two weeks. */
export async function careFor(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  dir: string,
  { check, signal }: { check: boolean; signal?: AbortSignal },
): Promise<void> {
  if (check) {
    await writeFile(join(dir, STAMP), '');
    // The commit-graph is a cache with 34 bits for a time: a commit of a later year would look damaged.
    const settings = [...fsckSettings('fsck'), ['core.commitGraph', 'false']].flatMap(([key, value]) => [
      '-c',
      `${key}=${value}`,
    ]);
    try {
      await runGit(dir, [...settings, 'fsck', '--full', '--no-dangling', '--no-progress'], {
        timeoutMs: STEP_MS,
        signal,
      });
    } catch (error) {
      if (!(error instanceof GitError) || error.reason !== 'exit') throw error;
      // Nothing is repacked: what is damaged stays as it is until somebody has looked at it.
      ctx.log.error({ dir, found: error.stderr }, 'a repository is damaged: restore it from a backup');
      return;
    }
    // Not checked, so written anew.
    for (const cache of ['commit-graph', 'commit-graphs'])
      await rm(join(dir, 'objects/info', cache), { recursive: true, force: true });
  }
  await runGit(dir, ['gc', '--quiet', '--prune=2.weeks.ago'], { timeoutMs: STEP_MS, signal });
  await writeCommitGraph(dir, { signal });
  const uuid = basename(dir, '.git');
  const project = await ctx.db
    .selectFrom('project')
    .select('id')
    .where('repository', '=', uuid)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (project) await refreshProject(ctx, project.id);
}

async function repositories(root: string): Promise<string[]> {
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    // Before the first project.
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => REPOSITORY.test(name)).map((name) => join(root, name));
}

async function packsOf(dir: string): Promise<number> {
  const names = await readdir(join(dir, 'objects/pack')).catch(() => []);
  return names.filter((name) => name.endsWith('.pack')).length;
}

/** Without a stamp: that of the repository itself. */
async function ageOf(stamp: string): Promise<number> {
  const made = await stat(stamp).catch(() => stat(join(stamp, '../config')));
  return Date.now() - made.mtimeMs;
}
