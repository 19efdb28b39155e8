import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeAbandonedServers } from '../packages/server/src/testing/database.ts';
import { buildDaemonOnce } from './daemonBuild.ts';
import { noResults, playwrightResults, type Results, vitestResults } from './results.ts';
import { REPORTS, ROOT, run, runQuietly, stopSignal } from './run.ts';
import { buildWeb } from './web.ts';

const VITEST = join('node_modules', 'vitest/vitest.mjs');
/** The tests of this script bring files of their own. */
const VITEST_CONFIG = process.env.VITEST_CONFIG ?? 'vitest.config.ts';
const PLAYWRIGHT = join('node_modules', '@playwright/test/cli.js');
const PLAYWRIGHT_CONFIG = process.env.PLAYWRIGHT_CONFIG ?? 'e2e/playwright.config.ts';

export const isBrowserTest = (path: string) => /^(\.\/)?e2e(\/|$)/.test(path);

/** Projects of `vitest.config.ts`. */
export type UnitProject = 'unit' | 'alone' | 'docker' | 'long' | 'docker-long';
const UNIT_PROJECTS: readonly UnitProject[] = ['unit', 'alone', 'docker', 'long', 'docker-long'];
/** Projects of `e2e/playwright.config.ts`. */
export type StoryProject = 'browser' | 'docker' | 'kit' | 'long' | 'docker-long';

interface Choice<Project> {
  /** Why tests that need Docker cannot run here: they are counted as skipped. */
  withoutDocker?: string | undefined;
  /** All when none is named. */
  projects?: readonly Project[];
  /** Only files whose path matches one of these; all when empty. */
  paths?: readonly string[];
  /** One test file at a time, ended after `timeoutMs`. */
  alone?: { timeoutMs: number };
}

const needsDocker = (project: string) => project.startsWith('docker');

export async function runUnitTests(choice: Choice<UnitProject>): Promise<Results> {
  const { withoutDocker, projects = UNIT_PROJECTS, paths = [], alone } = choice;
  const notRun = withoutDocker ? await countTests(projects.filter(needsDocker), paths) : 0;
  const chosen = projects.filter((project) => !(withoutDocker && needsDocker(project)));
  if (chosen.length === 0) return { ...noResults(), notRun };
  const name = alone ? 'second' : chosen.join('-');
  const report = freshReport(`vitest-${name}.json`);
  const facts = freshReport(`facts-${name}.json`);
  const args = [
    ...[VITEST, 'run', '--config', VITEST_CONFIG, ...chosen.flatMap((project) => ['--project', project])],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    ...['--reporter=./scripts/vitestFacts.ts', ...(alone ? ['--maxWorkers=1'] : []), ...paths],
  ];
  const env = { ...process.env, VITEST_FACTS: facts };
  const code = await run(process.execPath, args, { env, ...(alone ? { timeout: alone.timeoutMs } : {}) });
  if (stopSignal()) await removeAbandonedServers();
  return { ...vitestResults(report, facts, code), notRun };
}

/** What browser stories run on. */
export async function buildForStories(): Promise<void> {
  await Promise.all([buildWeb(), buildDaemonOnce()]);
}

/** Browser stories. `STAGI_NO_DOCKER` tells them why those that need Docker are to be skipped. */
export async function runStories(choice: Choice<StoryProject>): Promise<Results> {
  const { withoutDocker, projects = [], paths = [], alone } = choice;
  const name = alone ? 'second' : projects.join('-');
  const report = freshReport(`playwright-${name}.json`);
  const env = {
    ...process.env,
    PLAYWRIGHT_JSON_OUTPUT_NAME: report,
    STAGI_NO_DOCKER: withoutDocker ?? '',
    // Node reads TypeScript by itself, and keeps what it compiled.
    PW_DISABLE_TS_ESM: '1',
  };
  const args = [
    // Paths come first: `--project` takes every word after it.
    ...[PLAYWRIGHT, 'test', ...paths, '--config', PLAYWRIGHT_CONFIG, '--output', join('test-results', name)],
    ...[
      `--reporter=list,json,${join(ROOT, 'scripts/runningStories.ts')}`,
      ...projects.flatMap((project) => ['--project', project]),
    ],
    ...(alone ? ['--workers=1'] : []),
  ];
  const code = await run(process.execPath, args, { env, ...(alone ? { timeout: alone.timeoutMs } : {}) });
  return playwrightResults(report, code);
}

/**
 * Runs each `<folder>/*.<kind>.ts`, one after another, and answers the exit code. Of `args`, words choose the files whose
 * path contains one of them; options go to each of the files.
 */
export async function runEach(folder: string, kind: string, args: string[]): Promise<number> {
  const options = args.filter((arg) => arg.startsWith('-'));
  const filters = args.filter((arg) => !arg.startsWith('-'));
  const files = globSync(`${folder}/**/*.${kind}.ts`, { cwd: ROOT, exclude: (name) => name.includes('node_modules') })
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort();
  if (files.length === 0) console.error(`No ${folder}/*.${kind}.ts matches.`);
  const failed: string[] = [];
  for (const file of files) {
    if (stopSignal()) break;
    console.log(`\n${file}`);
    if ((await run(process.execPath, [file, ...options])) !== 0) failed.push(file);
  }
  if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`);
  return files.length === 0 || failed.length > 0 ? 1 : 0;
}

function freshReport(name: string) {
  mkdirSync(REPORTS, { recursive: true });
  const report = join(REPORTS, name);
  rmSync(report, { force: true });
  return report;
}

async function countTests(projects: readonly UnitProject[], paths: readonly string[]) {
  if (projects.length === 0) return 0;
  const list = freshReport('docker-tests.json');
  const chosen = projects.flatMap((project) => ['--project', project]);
  await runQuietly(process.execPath, [
    VITEST,
    'list',
    '--config',
    VITEST_CONFIG,
    ...chosen,
    `--json=${list}`,
    ...paths,
  ]);
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as unknown[]).length : 0;
}
