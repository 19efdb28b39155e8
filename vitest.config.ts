import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/longestFirst.ts';

const FOLDERS = '{packages,scripts,bench,faults}/**';
const DOCKER = [`${FOLDERS}/*.docker.test.ts`];
/** What measures times that people are promised: it wants the machine for itself. */
const MEASURED = [`${FOLDERS}/*.measured.test.ts`];
/**
 * Each has a process of its own: what renders all pages, and what starts git hundreds of times, as the kernel copies the
 * tables of a process for each that it starts: from 1 GB that takes eight times as long.
 */
const ALONE = [
  'packages/content/**/*.test.ts',
  'packages/server/src/{content,git,gitHosting,projectCode,taskTransfer}/**/*.test.ts',
  'scripts/runBlocks.test.ts',
];
const UNIT = { testTimeout: 120_000, sequence: { groupOrder: 0 } };

/** Short forms of fault runs and what takes as long: `npm test` leaves them out, `npm test -- slow` runs them. */
const SLOW = process.env.WITHOUT_SLOW_TESTS ? [`${FOLDERS}/*.slow.*`] : [];

export default defineConfig({
  test: {
    // More workers than cores take no less time in total, and each test takes longer.
    maxWorkers: Math.max(2, Math.min(4, availableParallelism())),
    globalSetup: ['packages/server/src/testing/globalSetup.ts'],
    // Node runs the tests as it runs the platform, without a bundler between.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    hookTimeout: 60_000,
    // What is waited for comes late on a machine that has much else to do; half a minute late it is broken.
    expect: { poll: { timeout: 20_000 } },
    // Print lists of findings whole: the report at the end has nothing of a failure but its message.
    chaiConfig: { truncateThreshold: 4_000 },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [`${FOLDERS}/*.test.{ts,tsx}`],
          exclude: [...configDefaults.exclude, ...DOCKER, ...MEASURED, ...SLOW, ...ALONE],
          // What many files need is read once for each worker.
          isolate: false,
          ...UNIT,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          exclude: [...configDefaults.exclude, ...DOCKER, ...MEASURED, ...SLOW],
          ...UNIT,
        },
      },
      {
        extends: true,
        test: {
          name: 'docker',
          include: DOCKER,
          exclude: [...configDefaults.exclude, ...SLOW],
          fileParallelism: false,
          testTimeout: 500_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...UNIT,
          name: 'measured',
          include: MEASURED,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
