import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ROOT } from './run.ts';

/** What takes long for its size: thousands of requests, timeouts that are waited for. Every short form of a fault run does. */
const LONG = [
  'app/isolationMatrix',
  'app/outage',
  'daemon-link/nodeKeys',
  'db/embedded',
  'instances/cloudFaults',
  'instances/leaks',
  'metering/zeroBalance',
  'promoCodes/activateOnce',
  'start',
  'strays/strays',
].map((name) => join(ROOT, 'packages/server/src', `${name}.test.ts`));
const FAULT_RUNS = join(ROOT, 'faults/');

for (const file of LONG) if (!existsSync(file)) throw new Error(`${file} is not there: it was renamed or removed`);

/**
 * Where nothing is known of earlier runs, Vitest begins with the largest files. Some of the smallest take the longest:
 * begun last, one of them would keep a worker busy when there is nothing left for the others.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.includes(moduleId) || moduleId.startsWith(FAULT_RUNS);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
