import { expect, it } from 'vitest';
import { createLimit } from './limit.ts';

it('runs so many at a time, all of them, also after failures', async () => {
  const limit = createLimit(3);
  let running = 0;
  let most = 0;
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, at) =>
      limit(async () => {
        running += 1;
        most = Math.max(most, running);
        await Promise.resolve();
        running -= 1;
        if (at % 4 === 0) throw new Error('failed');
        return at;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(15);
});
