import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/longestFirst.ts';

const FOLDERS = '{packages,scripts,bench,faults}/**';
const DOCKER = [`${FOLDERS}/*.docker.test.ts`];

export default defineConfig({
  test: {
    // Two cores are the smallest machine the project is worked on, and tests wait for a third of their time.
    maxWorkers: Math.max(3, Math.min(4, availableParallelism() - 1)),
    globalSetup: ['packages/server/src/testing/globalSetup.ts'],
    // Node runs the tests as it runs the platform, without a bundler between.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    hookTimeout: 60_000,
    // What is waited for comes late on a machine that has much else to do; half a minute late it is broken.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [`${FOLDERS}/*.test.{ts,tsx}`],
          exclude: [...configDefaults.exclude, ...DOCKER],
          testTimeout: 120_000,
          // What many files need is read once for each worker.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'docker',
          include: DOCKER,
          fileParallelism: false,
          testTimeout: 500_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
