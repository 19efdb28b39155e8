import { expect, it } from 'vitest';
import { diskUnavailableReason, runDisk } from './disk.ts';
import { reportLoad } from './loadReport.ts';

const reason = diskUnavailableReason();
if (reason) console.log(`skipped: ${reason}`);

it.skipIf(reason)('survives a full and a slow disk without errors or losses', { timeout: 400_000 }, async () => {
  expect(reportLoad('disk', await runDisk({ fullMs: 4_000, slowMs: 3_000 }, console.log))).toEqual([]);
});
