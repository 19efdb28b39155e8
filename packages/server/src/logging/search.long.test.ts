import { expect, it } from 'vitest';
import { HOSTILE, searchHostile, storeLongLog } from './testing/hostileSearches.ts';
import { aLoggingContainer } from './testing/shipped.ts';

const ANSWERS_WITHIN_MS = 5_000;

const at = aLoggingContainer();

it('a search of 60 MB of log ends within 5 s, whatever the expression', async () => {
  await storeLongLog(at.logs, at.container);
  const worst = await searchHostile(at.logs, at.container);
  console.log(`hostile expressions over 60 MB of log: n = ${HOSTILE.length}, slowest ${Math.round(worst)} ms`);
  expect(worst).toBeLessThan(ANSWERS_WITHIN_MS);
});

it('searches of one person at once are answered or time out', async () => {
  await storeLongLog(at.logs, at.container);
  const asked = Array.from({ length: 40 }, () => at.logs.query(at.container, { mode: 'regex', text: HOSTILE[0]! }));
  const outcomes = await Promise.all(
    asked.map((answer) =>
      answer.then(
        () => 200,
        (error: { status: number }) => error.status,
      ),
    ),
  );
  console.log(`searches of one person at once: n = ${outcomes.length}`);
  // They wait for each other, or are given up as too slow.
  for (const status of outcomes) expect(status).toBeOneOf([200, 400]);
});
