import { OVERTAKE_MINUTES } from '@stagi/contract/taskRules.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planQueue, type Room, type WaitingTask } from './queue.ts';

const OVERTAKE_MS = OVERTAKE_MINUTES * 60_000;

const task = (id: number, cpus: number, gpuCount = 0, overtakenMs: number | null = null): WaitingTask => ({
  id,
  cpus,
  gpuCount,
  overtakenMs,
});
const idsOf = (room: Room, waiting: WaitingTask[]) => planQueue(room, waiting).map(({ id }) => id);

describe('the queue of a server', () => {
  it('starts what fits, in order', () => {
    expect(idsOf({ cpus: 30, gpuIds: [] }, [task(1, 10), task(2, 20), task(3, 1)])).toEqual([1, 2]);
  });

  it('lets later tasks overtake one that needs more than is free, for ten minutes', () => {
    const room = { cpus: 10, gpuIds: [] };
    expect(idsOf(room, [task(1, 20), task(2, 5)])).toEqual([2]);
    expect(idsOf(room, [task(1, 20, 0, OVERTAKE_MS - 1), task(2, 5)])).toEqual([2]);
    expect(idsOf(room, [task(1, 20, 0, OVERTAKE_MS), task(2, 5)])).toEqual([]);
  });

  it('gives each GPU to one task, the lowest index first', () => {
    expect(planQueue({ cpus: 40, gpuIds: [3, 0, 2] }, [task(1, 1, 2), task(2, 1, 2), task(3, 1, 1)])).toEqual([
      { id: 1, gpuIds: [0, 2] },
      { id: 3, gpuIds: [3] },
    ]);
  });

  it('starts nothing on a server that has given out more than it has', () => {
    expect(idsOf({ cpus: -5, gpuIds: [] }, [task(1, 1)])).toEqual([]);
  });

  const room = fc.record({
    cpus: fc.integer({ min: 0, max: 80 }),
    gpuIds: fc.uniqueArray(fc.integer({ min: 0, max: 15 }), { maxLength: 8 }),
  });
  const waiting = fc
    .array(
      fc.record({
        cpus: fc.integer({ min: 1, max: 60 }),
        gpuCount: fc.integer({ min: 0, max: 4 }),
        overtakenMs: fc.option(fc.integer({ min: 0, max: 2 * OVERTAKE_MS })),
      }),
      { maxLength: 30 },
    )
    .map((tasks) => tasks.map((one, index) => ({ id: index + 1, ...one })));

  it('never gives out more than there is, and leaves no task waiting that may start', () => {
    const [n, seed] = [2_000, Date.now()];
    console.log(`planQueue: n = ${n}, seed ${seed}`);
    fc.assert(
      fc.property(room, waiting, (free, tasks) => {
        const starts = planQueue(free, tasks);
        const byId = new Map(tasks.map((one) => [one.id, one]));
        const started = new Set(starts.map(({ id }) => id));
        const gpus = starts.flatMap(({ gpuIds }) => gpuIds);
        expect(starts.reduce((sum, { id }) => sum + byId.get(id)!.cpus, 0)).toBeLessThanOrEqual(free.cpus);
        expect(new Set(gpus).size).toBe(gpus.length);
        expect(gpus.every((gpu) => free.gpuIds.includes(gpu))).toBe(true);
        for (const { id, gpuIds } of starts) expect(gpuIds).toHaveLength(byId.get(id)!.gpuCount);
        expect(starts.map(({ id }) => id)).toEqual([...started].toSorted((a, b) => a - b));

        let cpus = free.cpus;
        let gpuCount = free.gpuIds.length;
        let isClosed = false;
        for (const one of tasks) {
          const fits = one.cpus <= cpus && one.gpuCount <= gpuCount;
          expect(started.has(one.id)).toBe(fits && !isClosed);
          if (started.has(one.id)) {
            cpus -= one.cpus;
            gpuCount -= one.gpuCount;
          } else if ((one.overtakenMs ?? 0) >= OVERTAKE_MS) isClosed = true;
        }
      }),
      { numRuns: n, seed },
    );
  });

  it('overtakes each task for ten minutes at most, and starts all in the end', () => {
    const [n, seed] = [300, Date.now()];
    let overtakings = 0;
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            cpus: fc.integer({ min: 1, max: 40 }),
            minutes: fc.integer({ min: 1, max: 30 }),
            comesAt: fc.integer({ min: 0, max: 120 }),
            priority: fc.integer({ min: 0, max: 2 }),
          }),
          { minLength: 1, maxLength: 40 },
        ),
        (drawn) => {
          const all = drawn.map((one, id) => ({ ...one, id, startedAt: -1, overtakenAt: -1, lastOvertaken: -1 }));
          for (let minute = 0; all.some(({ startedAt }) => startedAt < 0); minute += 1) {
            expect(minute).toBeLessThan(120 + 40 * 30 + 1);
            const used = all
              .filter(({ startedAt, minutes }) => startedAt >= 0 && minute < startedAt + minutes)
              .reduce((sum, { cpus }) => sum + cpus, 0);
            const queue = all
              .filter(({ startedAt, comesAt }) => startedAt < 0 && comesAt <= minute)
              .toSorted((a, b) => b.priority - a.priority || a.id - b.id);
            const starts = planQueue(
              { cpus: 40 - used, gpuIds: [] },
              queue.map(({ id, cpus, overtakenAt }) =>
                task(id, cpus, 0, overtakenAt < 0 ? null : (minute - overtakenAt) * 60_000),
              ),
            );
            for (const { id } of starts) all[id]!.startedAt = minute;
            const last = queue.findLastIndex(({ id }) => id === starts.at(-1)?.id);
            for (const one of queue.slice(0, Math.max(0, last)).filter(({ startedAt }) => startedAt < 0)) {
              if (one.overtakenAt < 0) one.overtakenAt = minute;
              one.lastOvertaken = minute;
              overtakings += 1;
            }
          }
          for (const { overtakenAt, lastOvertaken } of all)
            if (overtakenAt >= 0) expect(lastOvertaken - overtakenAt).toBeLessThan(OVERTAKE_MINUTES);
        },
      ),
      { numRuns: n, seed },
    );
    console.log(`planQueue over time: n = ${n} queues, ${overtakings} overtakings, seed ${seed}`);
    expect(overtakings).toBeGreaterThan(0);
  });
});
