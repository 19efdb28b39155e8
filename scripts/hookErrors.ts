import { writeFileSync } from 'node:fs';
import type { Reporter, TestSuite } from 'vitest/node';

/** Errors of hooks inside a `describe`, which Vitest's JSON report leaves out: messages by file. */
export type HookErrors = Record<string, string[]>;

/** Writes them to the file that `HOOK_ERRORS` names. */
export default class HookErrorsReporter implements Reporter {
  readonly #found: HookErrors = {};

  onTestSuiteResult(suite: TestSuite): void {
    const messages = suite.errors().map(({ message, stack }) => stack ?? message);
    if (messages.length === 0) return;
    const { moduleId } = suite.module;
    this.#found[moduleId] = [...(this.#found[moduleId] ?? []), ...messages];
  }

  onTestRunEnd(): void {
    const { HOOK_ERRORS } = process.env;
    if (HOOK_ERRORS) writeFileSync(HOOK_ERRORS, JSON.stringify(this.#found));
  }
}
