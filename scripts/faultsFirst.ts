import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Where nothing is known of earlier runs, Vitest begins with the largest files. The short forms of fault runs are the
 * smallest and take the longest: begun last, one of them would keep a worker busy when there is nothing left for the others.
 */
export class FaultsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFault = ({ moduleId }: TestSpecification) => /\/faults\/\w+\.test\.ts$/.test(moduleId);
    return [...sorted.filter(isFault), ...sorted.filter((file) => !isFault(file))];
  }
}
