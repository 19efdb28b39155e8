import { expect, it } from 'vitest';
import { noDisk, runDisk } from './disk.ts';
import { sayUse } from './useReport.ts';

const reason = noDisk();
if (reason) console.log(`skipped: ${reason}`);

it.skipIf(reason)('a full and a slow disk cost nothing but time', { timeout: 400_000 }, async () => {
  expect(sayUse('disk', await runDisk({ fullMs: 4_000, slowMs: 3_000 }, console.log))).toEqual([]);
});
