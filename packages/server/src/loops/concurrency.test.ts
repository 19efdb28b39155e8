import { describe, expect, it } from 'vitest';
import { limitConcurrency, limitConcurrencyByKey } from './concurrency.ts';

/** Work that ends when it is told to. */
function held() {
  let release = () => {};
  const ended = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = false;
  return {
    release,
    hasBegun: () => begun,
    work: async () => {
      begun = true;
      await ended;
    },
  };
}

const everybodyMoved = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  it('runs so many at once, the others in order, and refuses what does not fit the queue', async () => {
    const turns = limitConcurrency(2, { most: 2, refuse: () => new Error('full') });
    const works = Array.from({ length: 5 }, held);
    const done = works.map(({ work }) => turns(work));
    await expect(done[4]).rejects.toThrow('full');
    expect(works.map(({ hasBegun }) => hasBegun())).toEqual([true, true, false, false, false]);
    works[1]!.release();
    await done[1];
    await everybodyMoved();
    expect(works.map(({ hasBegun }) => hasBegun())).toEqual([true, true, true, false, false]);
    for (const { release } of works) release();
    await Promise.all(done.slice(0, 4));
    expect(works[3]!.hasBegun()).toBe(true);
  });

  it('puts work with priority to the front of the queue', async () => {
    let isFirst = false;
    const turns = limitConcurrency(1, { most: 2, refuse: () => new Error('full'), hasPriority: () => isFirst });
    const [one, patient, urgent] = [held(), held(), held()];
    const done = [turns(one.work), turns(patient.work)];
    isFirst = true;
    done.push(turns(urgent.work));
    one.release();
    await everybodyMoved();
    expect([urgent.hasBegun(), patient.hasBegun()]).toEqual([true, false]);
    for (const { release } of [patient, urgent]) release();
    await Promise.all(done);
  });

  it('frees the slot when work fails', async () => {
    const turns = limitConcurrency(1);
    const failed = turns(() => Promise.reject(new Error('broken')));
    const next = turns(() => Promise.resolve('served'));
    await expect(failed).rejects.toThrow('broken');
    await expect(next).resolves.toBe('served');
  });

  it('counts each key apart', async () => {
    const turns = limitConcurrencyByKey<string>(1, { most: 0, refuse: () => new Error('full') });
    const works = Array.from({ length: 3 }, held);
    const first = turns('a', works[0]!.work);
    const second = turns('b', works[1]!.work);
    await expect(turns('a', works[2]!.work)).rejects.toThrow('full');
    works[0]!.release();
    await first;
    await expect(turns('a', () => Promise.resolve('served'))).resolves.toBe('served');
    works[1]!.release();
    await second;
  });
});
