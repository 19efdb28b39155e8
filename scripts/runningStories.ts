import type { Reporter, TestCase } from '@playwright/test/reporter';
import { noteTestEnd, noteTestStart } from './runningTests.ts';

/** Tells Playwright's part of `runningTests`. */
export default class RunningStories implements Reporter {
  onTestBegin({ location }: TestCase): void {
    noteTestStart(location.file);
  }

  onTestEnd({ location }: TestCase): void {
    noteTestEnd(location.file);
  }

  printsToStdio(): boolean {
    return false;
  }
}
