import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { buildDaemon } from '../packages/daemon/build.ts';
import { removeAbandonedServers } from '../packages/server/src/testing/database.ts';
import type { ErrorsOutsideTests } from './errorsOutsideTests.ts';
import { CACHE, ROOT, run, runQuietly, stopSignal } from './run.ts';
import { buildWeb } from './web.ts';

export type Totals = {
  passed: number;
  failed: number;
  skipped: number;
  /** What failed, with its message: a log that is cut off keeps its end, so the end names them once more. */
  failures: string[];
};

export const noTests = (): Totals => ({ passed: 0, failed: 0, skipped: 0, failures: [] });

const VITEST = join('node_modules', 'vitest/vitest.mjs');
const PLAYWRIGHT = join('node_modules', '@playwright/test/cli.js');
const PLAYWRIGHT_CONFIG = 'e2e/playwright.config.ts';

export const isBrowserTest = (path: string) => /^(\.\/)?e2e(\/|$)/.test(path);

export function add(totals: Totals, more: Partial<Totals>) {
  for (const key of ['passed', 'failed', 'skipped'] as const) totals[key] += more[key] ?? 0;
  totals.failures.push(...(more.failures ?? []));
}

export const totalLine = ({ passed, failed, skipped }: Totals) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

/** Which tests: those that need no Docker, those that do, those that measure, or all of them one group after the other. */
export type UnitTests = 'unit' | 'docker' | 'measured' | 'all';

/** Of Vitest's configuration; all where none is named. */
const PROJECTS: Record<UnitTests, readonly string[]> = {
  unit: ['unit', 'alone'],
  docker: ['docker'],
  measured: ['measured'],
  all: [],
};

/** Without paths the slow tests are left out: see `vitest.config.ts`. */
const testsFor = (paths: readonly string[]): NodeJS.ProcessEnv =>
  paths.length > 0 ? process.env : { ...process.env, WITHOUT_SLOW_TESTS: '1' };

/**
 * Vitest over the files matching `paths`, all but slow ones when empty. Without Docker its tests are counted as
 * skipped, not run.
 */
export async function runUnitTests(
  paths: string[],
  withoutDocker: string | undefined,
  which: UnitTests = 'all',
): Promise<Totals> {
  if (withoutDocker && which === 'docker') return { ...noTests(), skipped: await countDockerTests(paths) };
  const report = freshReport(`vitest-${which}.json`);
  const named = which === 'all' && withoutDocker ? [...PROJECTS.unit, ...PROJECTS.measured] : PROJECTS[which];
  const projects = named.flatMap((name) => ['--project', name]);
  const outside = freshReport(`errors-${which}.json`);
  const reporters = [
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    '--reporter=./scripts/errorsOutsideTests.ts',
  ];
  const env = { ...testsFor(paths), ERRORS_OUTSIDE_TESTS: outside };
  const code = await run(process.execPath, [VITEST, 'run', ...projects, ...reporters, ...paths], { env });
  if (stopSignal()) await removeAbandonedServers();
  const totals = read(report, code, (results) => vitestTotals(results, errorsIn(outside)));
  if (withoutDocker && which === 'all') totals.skipped += await countDockerTests(paths);
  return totals;
}

/** What browser stories run on. */
export async function buildForStories(): Promise<void> {
  await Promise.all([buildWeb(), buildDaemon()]);
}

/**
 * The browser stories of the given projects of Playwright's configuration, all when none is given.
 * `STAGI_NO_DOCKER` tells them why those that need Docker are to be skipped.
 */
export async function runBrowserTests(
  paths: string[],
  withoutDocker: string | undefined,
  projects: string[] = [],
): Promise<Totals> {
  const report = freshReport(`playwright${projects.map((name) => `-${name}`).join('')}.json`);
  const env = {
    ...process.env,
    PLAYWRIGHT_JSON_OUTPUT_NAME: report,
    STAGI_NO_DOCKER: withoutDocker ?? '',
    // Node reads TypeScript by itself, and keeps what it compiled.
    PW_DISABLE_TS_ESM: '1',
  };
  const output = join('test-results', projects.join('-'));
  const args = [PLAYWRIGHT, 'test', '--config', PLAYWRIGHT_CONFIG, '--output', output, '--reporter=list,json'];
  for (const project of projects) args.push('--project', project);
  return read(report, await run(process.execPath, [...args, ...paths], { env }), playwrightTotals);
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
  mkdirSync(CACHE, { recursive: true });
  const report = join(CACHE, name);
  rmSync(report, { force: true });
  return report;
}

/** A runner that ends badly without naming a failed test has still failed. */
function read(report: string, code: number, count: (report: never) => Totals): Totals {
  const totals = existsSync(report) ? count(JSON.parse(readFileSync(report, 'utf8')) as never) : noTests();
  if (code !== 0 && totals.failed === 0) {
    totals.failed = 1;
    totals.failures.push(`${basename(report, '.json')}: ended with ${code} and named no failed test`);
  }
  return totals;
}

type VitestReport = {
  numPassedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] | null }[];
  }[];
};

const errorsIn = (file: string): ErrorsOutsideTests =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ErrorsOutsideTests) : { hooks: {}, unhandled: [] };

function vitestTotals(report: VitestReport, { hooks, unhandled }: ErrorsOutsideTests): Totals {
  const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(ROOT, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0 && status === 'failed') return [failure(file, message, ...(hooks[name] ?? []))];
    return failed.map((test) => failure(`${file} › ${test.fullName}`, ...(test.failureMessages ?? [])));
  });
  failures.push(...unhandled.map((message) => failure('an error that no test caught', message)));
  return {
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  };
}

type PlaywrightReport = {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number };
  suites: PlaywrightSuite[];
};
type PlaywrightSuite = {
  suites?: PlaywrightSuite[];
  specs: {
    ok: boolean;
    title: string;
    file: string;
    line: number;
    tests: { results: { errors: { message?: string }[] }[] }[];
  }[];
};

function playwrightTotals({ stats, suites }: PlaywrightReport): Totals {
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    skipped: stats.skipped,
    failures: suites.flatMap(failedStories),
  };
}

function failedStories({ suites = [], specs }: PlaywrightSuite): string[] {
  const failed = specs.filter(({ ok }) => !ok);
  const named = failed.map(({ file, line, title, tests }) => {
    const errors = tests.flatMap(({ results }) => results.flatMap(({ errors }) => errors));
    return failure(`${file}:${line} › ${title}`, ...errors.map(({ message = '' }) => message));
  });
  return [...named, ...suites.flatMap(failedStories)];
}

const LINES_OF_A_FAILURE = 24;

function failure(title: string, ...messages: string[]) {
  const lines = messages.flatMap((message) => stripVTControlCharacters(message).split('\n'));
  return [title, ...lines.slice(0, LINES_OF_A_FAILURE).map((line) => `    ${line.slice(0, 300)}`)].join('\n');
}

async function countDockerTests(paths: string[]) {
  const list = freshReport('docker-tests.json');
  const args = [VITEST, 'list', '--project', 'docker', `--json=${list}`, ...paths];
  await runQuietly(process.execPath, args, { env: testsFor(paths) });
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as unknown[]).length : 0;
}
