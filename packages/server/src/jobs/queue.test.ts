import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction, openPool, type Pool } from '../db/pool.ts';
import { createTestDatabase } from '../testing/database.ts';
import { type RunningQueue, startQueue } from './queue.ts';

const DEADLINE = { timeout: 60_000 };

describe('the queue', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let pool: Pool;
  let queue: RunningQueue;
  const taken = new Map<number, number[]>();
  const failsAtFirst = new Set<number>();

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = openPool(database.url);
    queue = await startQueue(database.url, pino({ level: 'silent' }), { worker: true });
    await queue.work('mail.send', async ({ mailId }) => {
      const before = taken.get(mailId) ?? [];
      taken.set(mailId, [...before, performance.now()]);
      if (failsAtFirst.has(mailId) && before.length === 0) throw new Error('not now');
    });
  });
  afterAll(async () => {
    await queue?.stop();
    await pool?.close();
    await database?.drop();
  });

  const enqueue = (mailIds: readonly number[]) =>
    inTransaction(pool.db, async (trx) => {
      for (const mailId of mailIds) await queue.enqueue(trx, 'mail.send', { mailId });
    });

  it('runs jobs that were enqueued together at once, on a single notification', async () => {
    const together = Array.from({ length: 40 }, (_, at) => at);
    const since = performance.now();
    await enqueue(together);
    await expect.poll(() => taken.size, DEADLINE).toBe(together.length);
    expect([...taken.values()].every((times) => times.length === 1)).toBe(true);
    console.log(`jobs of one moment: n = ${taken.size}, all taken after ${Math.round(performance.now() - since)} ms`);
  });

  it('retries a failed job with backoff, but not the other jobs of its batch', async () => {
    const together = [100, 101, 102, 103, 104];
    failsAtFirst.add(102);
    await enqueue(together);
    const tries = () => together.map((mailId) => taken.get(mailId)?.length ?? 0);
    await expect.poll(tries, DEADLINE).toEqual([1, 1, 2, 1, 1]);
  });
});
