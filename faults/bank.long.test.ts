import { expect, it } from 'vitest';
import { runBank } from './bank/run.ts';
import { reportBank } from './bankReport.ts';
import { newSeed, seeded } from './random.ts';

it('loses and creates no money when tellers and the database are killed', { timeout: 180_000 }, async () => {
  const seed = newSeed();
  console.log(`bank: seed ${seed}`);
  const plan = { kills: 20, databaseKills: 1 };
  expect(reportBank(plan, await runBank(plan, seeded(seed), console.log))).toEqual([]);
});
