import { expect, it } from 'vitest';
import { reportGit, runGitKills } from './git.ts';
import { newSeed, seeded } from './random.ts';

it('loses no acknowledged commit when pushes are killed', { timeout: 300_000 }, async () => {
  const seed = newSeed();
  console.log(`git: seed ${seed}`);
  const plan = { kills: 8 };
  expect(reportGit(plan, await runGitKills(plan, seeded(seed), console.log))).toEqual([]);
});
