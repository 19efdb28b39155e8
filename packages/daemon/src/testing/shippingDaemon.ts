import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createDaemon, type TestDaemon } from './daemon.ts';
import { ensureTestImage } from './image.ts';
import { type FakePlatform, startFakePlatform } from './platform.ts';

/** For each test a platform, and a daemon that ships the logs of its containers to it. */
export function aShippingDaemon(nodesAbove: number) {
  let node = nodesAbove;
  const at = {
    platform: null as unknown as FakePlatform,
    daemon: null as unknown as TestDaemon,
    lines: (id: number) => at.platform.logs.of(id).lines,
    /** The number at the end of each line of a stream. */
    numbers: (id: number, stream: 'stdout' | 'stderr') =>
      at.lines(id).flatMap((line) => (line.stream === stream ? [Number(/\d+$/.exec(line.text)?.[0])] : [])),
    ended: (id: number, times = 1) =>
      at.platform.until(`log ${id} has ended`, () => at.platform.logs.of(id).ends >= times, 300_000),
  };
  beforeAll(() => ensureTestImage());
  beforeEach(async () => {
    node += 1;
    at.platform = await startFakePlatform({ node: String(node) });
    at.daemon = await createDaemon(at.platform);
    at.daemon.start();
  });
  afterEach(async () => {
    await at.daemon.cleanUp();
    await at.platform.close();
    expect(at.platform.logs.faults).toEqual([]);
  });
  return at;
}

export const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
