import { expect, it } from 'vitest';
import { reportBackups, runBackups } from './backup.ts';
import { newSeed, seeded } from './random.ts';

it('restores whole backups of a platform that is written to and killed', { timeout: 600_000 }, async () => {
  const seed = newSeed();
  console.log(`backup: seed ${seed}`);
  const plan = { writers: 20, kills: 3, megabytes: 40 };
  expect(reportBackups(plan, await runBackups(plan, seeded(seed), console.log))).toEqual([]);
});
