import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { SerializedError, UserConsoleLog } from 'vitest';
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';
import { noteTestEnd, noteTestStart } from './runningTests.ts';

/** Facts that Vitest's JSON report leaves out. Files are absolute paths. */
export interface VitestFacts {
  /** Of hooks inside a `describe`: messages by file. */
  hooks: Record<string, string[]>;
  /** Such as a promise that is rejected before a test awaits it, with the file that ran then. */
  unhandled: { file?: string; message: string }[];
  /** Lines about seeds, by the file that printed them. */
  seeds: Record<string, string[]>;
  /** Each `Error.cause` of a failed test, by `nameOfTest`. */
  causes: Record<string, string[]>;
}

export const nameOfTest = (file: string, fullName: string): string => `${file} › ${fullName}`;

/** Writes them to the file that `VITEST_FACTS` names. */
export default class VitestFactsReporter implements Reporter {
  readonly #hooks: VitestFacts['hooks'] = {};
  readonly #seeds: VitestFacts['seeds'] = {};
  readonly #causes: VitestFacts['causes'] = {};
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    noteTestStart(moduleId);
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    noteTestEnd(moduleId);
  }

  onTestCaseResult(test: TestCase): void {
    const causes = (test.result().errors ?? []).flatMap(causesOf);
    // The JSON report writes the names of groups and test with a space between them.
    if (causes.length > 0)
      this.#causes[nameOfTest(test.module.moduleId, test.fullName.replaceAll(' > ', ' '))] = causes;
  }

  onUserConsoleLog({ content, taskId }: UserConsoleLog): void {
    const lines = seedLines(content);
    const entity = lines.length > 0 && taskId ? this.#vitest?.state.idMap.get(taskId) : undefined;
    if (entity) append(this.#seeds, entity.file.filepath, lines);
  }

  onTestSuiteResult(suite: TestSuite): void {
    const messages = suite.errors().map(textOf);
    if (messages.length > 0) append(this.#hooks, suite.module.moduleId, messages);
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const { VITEST_FACTS } = process.env;
    if (!VITEST_FACTS) return;
    const unhandled = errors.map((error) => ({
      ...(error.VITEST_TEST_PATH ? { file: String(error.VITEST_TEST_PATH) } : {}),
      message: textOf(error),
    }));
    const found: VitestFacts = { hooks: this.#hooks, unhandled, seeds: this.#seeds, causes: this.#causes };
    writeFileSync(VITEST_FACTS, JSON.stringify(found));
  }
}

const causesOf = ({ cause }: SerializedError): string[] =>
  cause ? [`Caused by: ${textOf(cause)}`, ...causesOf(cause)] : [];

const textOf = ({ message, stack }: Pick<SerializedError, 'message' | 'stack'>): string => stack ?? message;

function append(lists: Record<string, string[]>, file: string, more: string[]): void {
  lists[file] = [...(lists[file] ?? []), ...more];
}

export const seedLines = (printed: string): string[] =>
  stripVTControlCharacters(printed)
    .split('\n')
    .filter((line) => /\bseed\b/i.test(line));
