import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, TestSuite } from 'vitest/node';

/** Errors that Vitest's JSON report leaves out. */
export interface ErrorsOutsideTests {
  /** Of hooks inside a `describe`: messages by file. */
  hooks: Record<string, string[]>;
  /** Such as a promise that is rejected before a test awaits it. */
  unhandled: string[];
}

/** Writes them to the file that `ERRORS_OUTSIDE_TESTS` names. */
export default class ErrorsOutsideTestsReporter implements Reporter {
  readonly #hooks: ErrorsOutsideTests['hooks'] = {};

  onTestSuiteResult(suite: TestSuite): void {
    const messages = suite.errors().map(textOf);
    if (messages.length === 0) return;
    const { moduleId } = suite.module;
    this.#hooks[moduleId] = [...(this.#hooks[moduleId] ?? []), ...messages];
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const { ERRORS_OUTSIDE_TESTS } = process.env;
    if (!ERRORS_OUTSIDE_TESTS) return;
    const unhandled = errors.map((error) => `While ${error.VITEST_TEST_PATH ?? 'no test file'} ran: ${textOf(error)}`);
    writeFileSync(ERRORS_OUTSIDE_TESTS, JSON.stringify({ hooks: this.#hooks, unhandled } satisfies ErrorsOutsideTests));
  }
}

const textOf = ({ message, stack }: Pick<SerializedError, 'message' | 'stack'>): string => stack ?? message;
