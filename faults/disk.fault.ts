/**
 * The disk of a platform under load is full for 30 s and then slow for 30 s: nothing that was answered is lost or
 * duplicated, no answer is wrong, the process never exits, and it recovers by itself. Needs root, for a disk of its
 * own.
 */
import { diskUnavailableReason, runDisk } from './disk.ts';
import { reportLoad } from './loadReport.ts';

const reason = diskUnavailableReason();
if (reason) {
  console.log(`disk: not run, ${reason}`);
  process.exit(0);
}
const failures = reportLoad('disk', await runDisk({ fullMs: 30_000, slowMs: 30_000 }, console.log));
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
