import { describe, expect, it } from 'vitest';
import { pullProgress } from './pullProgress.ts';

describe('the progress of a pull', () => {
  it('adds layers up, never falls and ends at 1', () => {
    const progress = pullProgress();
    const events = [
      { status: 'Pulling from library/x', id: 'latest' },
      { status: 'Pulling fs layer', id: 'a' },
      { status: 'Pulling fs layer', id: 'b' },
      { status: 'Downloading', id: 'a', progressDetail: { current: 50e6, total: 100e6 } },
      { status: 'Already exists', id: 'b' },
      { status: 'Verifying Checksum', id: 'a' },
      { status: 'Download complete', id: 'a' },
      { status: 'Extracting', id: 'a', progressDetail: { current: 10, total: 100 } },
      { status: 'Pull complete', id: 'a' },
      { status: 'Digest: sha256:1' },
    ];
    const seen = events.map((event) => progress.take(event)?.fraction ?? null);
    const numbers = seen.filter((one) => one !== null);
    expect(numbers).toEqual([...numbers].sort((x, y) => x - y));
    expect(numbers.at(-1)).toBe(1);
    expect(
      progress.take({ status: 'Downloading', id: 'c', progressDetail: { current: 0, total: 1e6 } })?.fraction,
    ).toBe(1);
  });

  it('throws an error that Docker reports within the stream', () => {
    expect(() => pullProgress().take({ error: 'manifest unknown' })).toThrow('manifest unknown');
  });
});
