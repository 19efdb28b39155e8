import { expect, it } from 'vitest';
import { runBank } from './bank/run.ts';
import { sayBank } from './bankReport.ts';
import { newSeed, seeded } from './random.ts';

it('tellers and database are killed: no money is lost, none comes about', { timeout: 180_000 }, async () => {
  const seed = newSeed();
  console.log(`bank: seed ${seed}`);
  const plan = { kills: 20, databaseKills: 1 };
  expect(sayBank(plan, await runBank(plan, seeded(seed), console.log))).toEqual([]);
});
