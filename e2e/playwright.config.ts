import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import { CHROMIUM } from '../scripts/chromium.ts';

/** Those that make containers of their own: they say that they are skipped without Docker. */
const DOCKER = readdirSync(import.meta.dirname).filter(
  (name) =>
    name.endsWith('.story.ts') &&
    readFileSync(join(import.meta.dirname, name), 'utf8').includes('process.env.STAGI_NO_DOCKER'),
);
const LONG = '*.long.story.ts';
const isLong = (name: string): boolean => name.endsWith('.long.story.ts');

/** Browser stories on the real server, real Docker and the distribution's Chromium. */
export default defineConfig({
  testDir: '.',
  globalSetup: './postgres.ts',
  outputDir: '../test-results',
  timeout: 180_000,
  expect: { timeout: 60_000 },
  // Each worker has a platform of its own. On two cores three workers took 4.7 minutes for what two did in 3.6.
  workers: Math.max(2, Math.min(4, availableParallelism())),
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  // A story's name tells when it runs: `long` with `npm run test:long`, everything else with `npm test`.
  projects: [
    { name: 'browser', testMatch: '*.story.ts', testIgnore: ['kit/**', LONG, ...DOCKER] },
    // They run beside the unit tests in `npm test`, which have the two cores busy.
    { name: 'docker', testMatch: DOCKER.filter((name) => !isLong(name)), workers: 1 },
    // The gallery keeps nothing between its stories: they share one browser context, which is what a story costs most.
    { name: 'kit', testMatch: 'kit/**/*.long.story.ts', use: { reuseContext: true } as object },
    // Some of them measure times and want the machine for themselves.
    { name: 'long', testMatch: LONG, testIgnore: ['kit/**', ...DOCKER], workers: 1 },
    { name: 'docker-long', testMatch: DOCKER.filter(isLong), workers: 1 },
  ],
  use: {
    actionTimeout: 30_000,
    navigationTimeout: 40_000,
    locale: 'en-GB',
    timezoneId: 'UTC',
    viewport: { width: 1280, height: 800 },
    screenshot: 'only-on-failure',
    trace: 'off',
    launchOptions: CHROMIUM,
  },
});
