import { describe, expect, it } from 'vitest';
import { createFairSlots, type FairSlots } from './fairSlots.ts';
import { asPerson, asStranger } from './holder.ts';

/** Notes who was served, in their order. */
function recordTurns(slots: FairSlots) {
  const served: string[] = [];
  const releases: (() => void)[] = [];
  return {
    served,
    take(name: string, userId: number, workspaceId: number) {
      void slots.take(asPerson(userId, workspaceId)).then((release) => {
        served.push(name);
        releases.push(release);
      });
    },
    async endOldest() {
      releases.shift()!();
      await everybodyMoved();
    },
  };
}

const everybodyMoved = () => new Promise((resolve) => setImmediate(resolve));

describe('waiting for a slot', () => {
  it('gives no person more than the share, whoever else waits', async () => {
    const slots = createFairSlots({ total: 32, perPerson: 8, waiting: 100 });
    const { take, served, endOldest } = recordTurns(slots);
    for (let n = 0; n < 12; n += 1) take(`greedy ${n}`, 1, 1);
    take('other', 2, 2);
    await everybodyMoved();
    expect(served).toEqual([...Array.from({ length: 8 }, (_, n) => `greedy ${n}`), 'other']);
    await endOldest();
    expect(served.at(-1)).toBe('greedy 8');
    expect([slots.held, slots.waiting]).toEqual([9, 3]);
  });

  it('serves one of each workspace in turn, and in it one of each person', async () => {
    const slots = createFairSlots({ total: 1, perPerson: 1, waiting: 100 });
    const { take, served, endOldest } = recordTurns(slots);
    take('first', 9, 9);
    for (const name of ['a1', 'a2', 'a3', 'a4']) take(name, 1, 1);
    take('b', 2, 1);
    take('c', 3, 3);
    for (let n = 0; n < 6; n += 1) {
      await everybodyMoved();
      await endOldest();
    }
    expect(served).toEqual(['first', 'a1', 'c', 'b', 'a2', 'a3', 'a4']);
  });

  it('refuses whoever has too many waiting, and everybody once too many wait', async () => {
    const slots = createFairSlots({ total: 4, perPerson: 1, waiting: 12 });
    const tries = (userId: number, count: number) =>
      Array.from({ length: count }, () =>
        slots.take(asPerson(userId, userId)).catch((error: { status: number }) => error.status),
      );
    const greedy = tries(1, 12);
    expect(slots.waiting).toBe(8);
    expect(await Promise.all(greedy.slice(9))).toEqual([429, 429, 429]);
    for (const userId of [2, 3, 4]) tries(userId, 1);
    const late = tries(5, 6);
    expect(slots.waiting).toBe(12);
    expect(await Promise.all(late.slice(4))).toEqual([503, 503]);
  });

  it('lets nobody in who has gone, and goes on without them', async () => {
    const slots = createFairSlots({ total: 1, perPerson: 1, waiting: 8 });
    const release = await slots.take(asPerson(1, 1));
    const gone = new AbortController();
    const second = slots.take(asPerson(2, 2), { signal: gone.signal });
    const third = slots.take(asPerson(3, 3));
    gone.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    await expect(slots.take(asPerson(2, 2), { signal: gone.signal })).rejects.toThrow('gone');
    release();
    release();
    (await third)();
    expect([slots.held, slots.waiting]).toEqual([0, 0]);
  });

  it('lets something large wait for its room, without being overtaken for ever', async () => {
    const slots = createFairSlots({ total: 32, perPerson: 8, waiting: 8 });
    const releases = await Promise.all([1, 2, 3, 4].map((userId) => slots.take(asPerson(userId, 1), { weight: 7 })));
    const large = slots.take(asPerson(5, 5), { weight: 8 });
    const small = slots.take(asPerson(6, 6), { weight: 1 });
    await everybodyMoved();
    expect([slots.held, slots.waiting]).toEqual([28, 2]);
    releases[0]!();
    await Promise.all([large, small]);
    expect(slots.held).toBe(21 + 8 + 1);
  });
});

describe('entering now or never', () => {
  it('refuses a person beyond the share, and everybody once all are taken', () => {
    const slots = createFairSlots({ total: 32, perPerson: 8 });
    const enter = (userId: number, count: number) =>
      Array.from({ length: count }, () => {
        try {
          slots.enter(asPerson(userId, 1));
          return 200;
        } catch (error) {
          return (error as { status: number }).status;
        }
      });
    expect(enter(1, 9)).toEqual([...Array(8).fill(200), 429]);
    for (const userId of [2, 3, 4]) enter(userId, 8);
    expect(enter(5, 1)).toEqual([503]);
  });

  it('puts a stranger in the place of the oldest of the same address', () => {
    const slots = createFairSlots({ total: 64, perPerson: 8, perStranger: 8 });
    const gone: string[] = [];
    const enter = (name: string, ip: string) => slots.enter(asStranger(ip), () => gone.push(name));
    const releases = Array.from({ length: 8 }, (_, n) => enter(`a${n}`, `2001:db8::${n}`));
    enter('b', '192.0.2.1');
    releases[0]!();
    enter('a8', '2001:db8:0:0:1::');
    expect(gone).toEqual([]);
    enter('a9', '2001:db8::9');
    enter('a10', '2001:db8::10');
    expect(gone).toEqual(['a1', 'a2']);
    expect(slots.held).toBe(9);
  });

  it('puts a stranger in the place of the oldest of all where all are taken, and never in that of somebody known', () => {
    const slots = createFairSlots({ total: 16, perPerson: 8, perStranger: 8 });
    const gone: string[] = [];
    const enter = (name: string, ip: string) => slots.enter(asStranger(ip), () => gone.push(name));
    enter('first', '192.0.2.1');
    for (let n = 0; n < 8; n += 1) slots.enter(asPerson(1, 1));
    for (let n = 0; n < 7; n += 1) slots.enter(asPerson(2, 1));
    enter('second', '192.0.2.2');
    expect(gone).toEqual(['first']);
    slots.enter(asStranger('192.0.2.3'), () => gone.push('third'));
    slots.takeFree(asPerson(2, 1))?.();
    expect(gone).toEqual(['first', 'second']);
  });
});

it('allows no limits by which one person, or one address, gets all', () => {
  expect(() => createFairSlots({ total: 64, perPerson: 17 })).toThrow('a quarter');
  expect(() => createFairSlots({ total: 128, perPerson: 32, perStranger: 17 })).toThrow('an eighth');
});
