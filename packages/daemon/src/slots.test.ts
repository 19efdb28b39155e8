import { describe, expect, it } from 'vitest';
import { createSlots } from './slots.ts';

describe('slots', () => {
  const { signal } = new AbortController();

  it('are given back to those who wait, in the order of asking', async () => {
    const slots = createSlots(2);
    const held = [await slots.take(signal), await slots.take(signal)];
    const got: string[] = [];
    const third = slots.take(signal).then((release) => {
      got.push('third');
      return release;
    });
    const fourth = slots.take(signal).then((release) => {
      got.push('fourth');
      return release;
    });
    await Promise.resolve();
    expect(got).toEqual([]);
    held[0]!();
    held[0]!();
    const release = await third;
    expect(got).toEqual(['third']);
    release();
    await fourth;
    expect(got).toEqual(['third', 'fourth']);
  });

  it('are not given to those who have left', async () => {
    const slots = createSlots(1);
    const release = await slots.take(signal);
    const leaving = new AbortController();
    const left = slots.take(leaving.signal);
    const next = slots.take(signal);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect(slots.take(leaving.signal)).rejects.toThrow('left');
    release();
    await expect(next).resolves.toBeTypeOf('function');
  });
});
