import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes long for its size: short forms of fault runs, thousands of requests, leases that run out. */
const LONG =
  /\/(faults\/\w+|promoCodes\/twice|daemon-link\/keys|instances\/zeroBalance|strays\/strays|server\/src\/start)\.test\.ts$/;

/**
 * Where nothing is known of earlier runs, Vitest begins with the largest files. Some of the smallest take the longest:
 * begun last, one of them would keep a worker busy when there is nothing left for the others.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
