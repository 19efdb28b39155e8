import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ROOT } from './run.ts';
import { nameOfTest, seedLines, type VitestFacts } from './vitestFacts.ts';

export type Runner = 'vitest' | 'playwright';

/** The outcome of a test file. Times are in milliseconds since 1970. */
export interface FileResult {
  /** Relative to the repository. */
  file: string;
  runner: Runner;
  passed: number;
  skipped: number;
  /** Each with its message: a log that is cut off keeps its end, so the end names them once more. */
  failures: string[];
  /** Lines that the file printed about its seeds. */
  seeds: string[];
  from: number;
  until: number;
}

export interface Results {
  files: FileResult[];
  /** Failures that no test file explains. They get no second look. */
  fatal: string[];
  /** Tests that were not started, such as those that need Docker where there is none. */
  notRun: number;
}

export const noResults = (): Results => ({ files: [], fatal: [], notRun: 0 });

export function add(results: Results, more: Results): void {
  results.files.push(...more.files);
  results.fatal.push(...more.fatal);
  results.notRun += more.notRun;
}

const sum = (files: FileResult[], of: (file: FileResult) => number) => files.reduce((all, file) => all + of(file), 0);

export const failuresOf = ({ files, fatal }: Results): string[] => [
  ...fatal,
  ...files.flatMap(({ failures }) => failures),
];

export function totalLine(results: Results): string {
  const { files, notRun } = results;
  const skipped = sum(files, (file) => file.skipped) + notRun;
  const counts = `${passedIn(results)} passed, ${failuresOf(results).length} failed`;
  return `${counts}${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

export const passedIn = ({ files }: Results): number => sum(files, (file) => file.passed);

const TEST_FILE = /\.(test|story)\.tsx?$/;
/** Then other files of that worker may not have run at all. */
const DEAD_WORKER = /worker (process )?exited unexpectedly|Worker \w+ emitted error|Failed to start \w+ worker/i;

/** Adds an error that no test caught to the file it names; one that names none, or a dead worker, is fatal. */
function addError(results: Results, file: string | undefined, failed: string): void {
  const named = file && results.files.find((one) => one.file === relativePath(file));
  if (named && !DEAD_WORKER.test(failed)) named.failures.push(failed);
  else results.fatal.push(failed);
}

const relativePath = (file: string) => (isAbsolute(file) ? relative(ROOT, file) : file);

const readJson = <T>(file: string): T | null =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : null;

/** A runner that ends badly without naming a failed test has still failed. */
function withExitCode(results: Results, name: string, code: number): Results {
  for (const file of results.files)
    for (const failure of file.failures) if (DEAD_WORKER.test(failure)) results.fatal.push(failure);
  if (code !== 0 && failuresOf(results).length === 0)
    results.fatal.push(`${name}: ended with ${code} and named no failed test`);
  return results;
}

interface VitestReport {
  testResults: {
    name: string;
    status: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: { status: string; fullName: string; failureMessages: string[] | null }[];
  }[];
}

/** Reads the JSON report of Vitest, and the facts that `vitestFacts.ts` adds. */
export function vitestResults(report: string, facts: string, code: number): Results {
  const known = readJson<VitestFacts>(facts) ?? { hooks: {}, unhandled: [], seeds: {}, causes: {} };
  const { hooks, unhandled, seeds, causes } = known;
  const results = noResults();
  for (const one of readJson<VitestReport>(report)?.testResults ?? []) {
    const file = relativePath(one.name);
    const count = (...statuses: string[]) =>
      one.assertionResults.filter(({ status }) => statuses.includes(status)).length;
    const failures = one.assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) =>
        failure(
          nameOfTest(file, fullName),
          ...(failureMessages ?? []),
          ...(causes[nameOfTest(one.name, fullName)] ?? []),
        ),
      );
    if (failures.length === 0 && one.status === 'failed')
      failures.push(failure(file, one.message, ...(hooks[one.name] ?? [])));
    results.files.push({
      file,
      runner: 'vitest',
      passed: count('passed'),
      skipped: count('skipped', 'pending', 'todo', 'disabled'),
      failures,
      seeds: seeds[one.name] ?? [],
      from: one.startTime,
      until: one.endTime,
    });
  }
  for (const { file, message } of unhandled)
    addError(
      results,
      file,
      failure(`${file ? relativePath(file) : 'no file'} › an error that no test caught`, message),
    );
  return withExitCode(results, 'Vitest', code);
}

interface PlaywrightError {
  message?: string;
  location?: { file: string };
}
interface PlaywrightReport {
  config: { rootDir: string };
  suites: PlaywrightSuite[];
  errors: PlaywrightError[];
}
interface PlaywrightSuite {
  suites?: PlaywrightSuite[];
  specs: {
    ok: boolean;
    title: string;
    file: string;
    line: number;
    tests: {
      status: 'expected' | 'unexpected' | 'flaky' | 'skipped';
      results: { errors: PlaywrightError[]; startTime: string; duration: number; stdout: { text?: string }[] }[];
    }[];
  }[];
}

/** What the JSON report of Playwright says. */
export function playwrightResults(report: string, code: number): Results {
  const results = noResults();
  const found = readJson<PlaywrightReport>(report);
  if (found) {
    for (const suite of found.suites) results.files.push(storyResult(suite, found.config.rootDir));
    for (const { message = '', location } of found.errors)
      addError(
        results,
        location && TEST_FILE.test(location.file) ? location.file : undefined,
        failure('a story', message),
      );
  }
  return withExitCode(results, 'Playwright', code);
}

function storyResult(suite: PlaywrightSuite, rootDir: string): FileResult {
  const specs = allSpecs(suite);
  const file = relativePath(join(rootDir, specs[0]?.file ?? ''));
  const tests = specs.flatMap((spec) => spec.tests);
  const runs = tests.flatMap((test) => test.results);
  const starts = runs.map(({ startTime }) => Date.parse(startTime));
  return {
    file,
    runner: 'playwright',
    passed: tests.filter(({ status }) => status === 'expected').length,
    skipped: tests.filter(({ status }) => status === 'skipped').length,
    failures: specs
      .filter(({ ok }) => !ok)
      .map((spec) => {
        const errors = spec.tests.flatMap((test) => test.results.flatMap((run) => run.errors));
        return failure(`${file}:${spec.line} › ${spec.title}`, ...errors.map(({ message = '' }) => message));
      }),
    seeds: runs.flatMap(({ stdout }) => seedLines(stdout.map(({ text = '' }) => text).join(''))),
    from: Math.min(...starts),
    until: Math.max(...runs.map(({ duration }, index) => starts[index]! + duration)),
  };
}

const allSpecs = ({ suites = [], specs }: PlaywrightSuite): PlaywrightSuite['specs'] => [
  ...specs,
  ...suites.flatMap(allSpecs),
];

const LINES_OF_A_FAILURE = 24;
const LINES_OF_ONE_MESSAGE = 14;

function failure(title: string, ...messages: string[]): string {
  const lines = messages.flatMap((message) =>
    stripVTControlCharacters(message)
      .split('\n')
      .slice(0, messages.length > 1 ? LINES_OF_ONE_MESSAGE : LINES_OF_A_FAILURE),
  );
  return [title, ...lines.slice(0, LINES_OF_A_FAILURE).map((line) => `    ${line.slice(0, 300)}`)].join('\n');
}
