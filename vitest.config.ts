import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const FOLDERS = '{packages,scripts,deploy,bench,faults}/**';
/** A test's name tells when it runs: `long` with `npm run test:long`, everything else with `npm test`. */
const LONG = [`${FOLDERS}/*.long.test.{ts,tsx}`];
const DOCKER_LONG = [`${FOLDERS}/*.docker.long.test.ts`];
const DOCKER = [`${FOLDERS}/*.docker.test.ts`];
/**
 * They have workers of their own: what renders all pages, and what starts git hundreds of times, as the kernel copies the
 * tables of a process for each that it starts: from the 1 GB of other tests that takes eight times as long.
 */
const ALONE = [
  'packages/content/**/*.test.ts',
  'packages/server/src/{content,git,gitHosting,projectCode,taskTransfer}/**/*.test.ts',
];
const LONG_LIMITS = { testTimeout: 500_000, hookTimeout: 600_000 };

export default defineConfig({
  test: {
    // More workers than cores take no less time in total, and each test takes longer.
    maxWorkers: Math.max(2, Math.min(4, availableParallelism())),
    globalSetup: ['packages/server/src/testing/globalSetup.ts'],
    setupFiles: process.env.TEST_SEED ? ['scripts/repeatSeed.ts'] : [],
    // Node runs the tests as it runs the platform, without a bundler between.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // What is waited for comes late on a machine that has much else to do; a minute late it is broken.
    expect: { poll: { timeout: 60_000 } },
    // Print lists of findings whole: the report at the end has nothing of a failure but its message.
    chaiConfig: { truncateThreshold: 4_000 },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [`${FOLDERS}/*.test.{ts,tsx}`],
          exclude: [...configDefaults.exclude, ...DOCKER, ...LONG, ...ALONE],
          // What many files need is read once for each worker.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          exclude: [...configDefaults.exclude, ...DOCKER, ...LONG],
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'docker',
          include: DOCKER,
          // They wait more than they compute. Each has containers, labels and ports of its own.
          maxWorkers: 2,
          ...LONG_LIMITS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: LONG,
          exclude: [...configDefaults.exclude, ...DOCKER_LONG],
          // What measures times wants the machine for itself.
          fileParallelism: false,
          ...LONG_LIMITS,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'docker-long',
          include: DOCKER_LONG,
          fileParallelism: false,
          ...LONG_LIMITS,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
