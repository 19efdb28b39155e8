import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { badUploads, expectRefused } from './testing/badUploads.ts';

const GROWS_AT_MOST_MB = 300;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

it('refuses a corpus of bad uploads in bounded memory (W12)', async () => {
  const eve = await app.signUp('Eve');
  const corpus = await badUploads();
  const from = resetPeakMb();
  await expectRefused(app, eve, corpus);
  const grown = peakMb() - from;
  console.log(`bad uploads: n = ${corpus.length}, accepted 0, peak memory grew by ${Math.round(grown)} MB`);
  expect(grown).toBeLessThan(GROWS_AT_MOST_MB);
});

/** The peak memory of this process since `resetPeakMb` (Linux). */
function peakMb(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

function resetPeakMb(): number {
  writeFileSync('/proc/self/clear_refs', '5');
  return peakMb();
}
