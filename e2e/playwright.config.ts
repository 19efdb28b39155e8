import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import { CHROMIUM } from '../scripts/chromium.ts';

/** The stories that measure times, which want the machine for themselves. */
const MEASURED = ['rent.story.ts', 'removal.story.ts', 'tabs.story.ts'];
/** Those that make containers of their own: they say that they are skipped without Docker. */
const DOCKER = readdirSync(import.meta.dirname).filter(
  (name) =>
    name.endsWith('.story.ts') &&
    !MEASURED.includes(name) &&
    readFileSync(join(import.meta.dirname, name), 'utf8').includes('process.env.STAGI_NO_DOCKER'),
);

/** Browser stories on the real server, real Docker and the distribution's Chromium. */
export default defineConfig({
  testDir: '.',
  globalSetup: './postgres.ts',
  outputDir: '../test-results',
  timeout: 180_000,
  expect: {
    timeout: 20_000,
    // Of the gallery of the kit; the colours of what is kept are rounded to a palette.
    toHaveScreenshot: { maxDiffPixelRatio: 0.001, threshold: 0.1, animations: 'disabled', caret: 'hide' },
  },
  snapshotPathTemplate: '{testDir}/kit/baselines/{arg}{ext}',
  // Each worker has a platform of its own. On two cores three workers took 4.7 minutes for what two did in 3.6.
  workers: Math.max(2, Math.min(4, availableParallelism())),
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  projects: [
    // The gallery keeps nothing between its stories: they share one browser context, which is what a story costs most.
    { name: 'kit', testMatch: 'kit/**/*.story.ts', use: { reuseContext: true } as object },
    { name: 'browser', testMatch: '*.story.ts', testIgnore: ['kit/**', ...DOCKER, ...MEASURED] },
    // They run beside the unit tests in `npm test`, which have the two cores busy.
    { name: 'docker', testMatch: DOCKER, workers: 1 },
    { name: 'measured', testMatch: MEASURED, workers: 1 },
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
