import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runQuietly } from './run.ts';

const CASES = join(import.meta.dirname, 'testing/secondLook');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stagi-second-look-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the cases as the gate runs its tests. */
const run = (...cases: string[]) =>
  runQuietly(process.execPath, [join(CASES, 'run.ts'), ...cases], {
    env: {
      ...process.env,
      SECOND_LOOK_FOLDER: folder,
      TEST_REPORTS: folder,
      VITEST_CONFIG: join(CASES, 'vitest.config.ts'),
      PLAYWRIGHT_CONFIG: join(CASES, 'playwright.config.ts'),
    },
  });

const lastLine = (output: string) => output.trimEnd().split('\n').at(-1);

it('names what fails once, and is green', async () => {
  const { code, output } = await run('failsOnce.case.ts', 'unhandledOnce.case.ts', 'failsOnce.storyCase.ts');
  const flaky = output.slice(output.indexOf('Flaky: 3'));
  expect(flaky).toMatch(/failsOnce\.case\.ts › fails once\n +AssertionError: expected true to be false/);
  expect(flaky).toMatch(/^ +numbers: seed 4711, n = 1$/m);
  expect(flaky).toMatch(/unhandledOnce\.case\.ts › an error that no test caught\n +Error: rejected once/);
  expect(flaky).toMatch(/failsOnce\.storyCase\.ts:\d+ › a story fails once/);
  expect(lastLine(output)).toBe('3 passed, 0 failed');
  expect(code).toBe(0);
});

it('is red where something fails twice, and says why', async () => {
  const { code, output } = await run(
    'failsAlways.case.ts',
    'unhandledAlways.case.ts',
    'failsAlways.storyCase.ts',
    'failsOnce.case.ts',
  );
  const end = output.slice(output.indexOf('Flaky: 1'));
  expect(end).toMatch(/Failed: .*failsAlways\.case\.ts › fails always/);
  expect(end).toMatch(/Failed: .*throws what has a cause\n +Error: above[\s\S]*?Caused by: Error: the reason beneath/);
  expect(end).toMatch(/Failed: .*unhandledAlways\.case\.ts › an error that no test caught\n +Error: rejected always/);
  expect(end).toMatch(/Failed: .*failsAlways\.storyCase\.ts:\d+ › a story fails always/);
  expect(lastLine(output)).toBe('2 passed, 4 failed');
  expect(code).toBe(1);
});

it('is red at once where a worker dies, though it would live the next time', async () => {
  const { code, output } = await run('workerDies.case.ts', 'failsOnce.case.ts');
  expect(output).not.toMatch(/A second look|Flaky/);
  expect(output).toMatch(/Failed: .*[Ww]orker/);
  expect(code).toBe(1);
});
