import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './run.ts';

/** The requirements of levels 1 and 2 of OWASP ASVS 5.0.0. */
const REQUIREMENTS =
  `1.1.1 1.1.2 1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.2.6 1.2.7 1.2.8 1.2.9 1.3.1 1.3.2 1.3.3 1.3.4 1.3.5 1.3.6 1.3.7
  1.3.8 1.3.9 1.3.10 1.3.11 1.4.1 1.4.2 1.4.3 1.5.1 1.5.2 2.1.1 2.1.2 2.1.3 2.2.1 2.2.2 2.2.3 2.3.1 2.3.2 2.3.3
  2.3.4 2.4.1 3.2.1 3.2.2 3.3.1 3.3.2 3.3.3 3.3.4 3.4.1 3.4.2 3.4.3 3.4.4 3.4.5 3.4.6 3.5.1 3.5.2 3.5.3 3.5.4
  3.5.5 3.7.1 3.7.2 4.1.1 4.1.2 4.1.3 4.2.1 4.3.1 4.3.2 4.4.1 4.4.2 4.4.3 4.4.4 5.1.1 5.2.1 5.2.2 5.2.3 5.3.1
  5.3.2 5.4.1 5.4.2 5.4.3 6.1.1 6.1.2 6.1.3 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8 6.2.9 6.2.10 6.2.11
  6.2.12 6.3.1 6.3.2 6.3.3 6.3.4 6.4.1 6.4.2 6.4.3 6.4.4 6.5.1 6.5.2 6.5.3 6.5.4 6.5.5 6.6.1 6.6.2 6.6.3 6.8.1
  6.8.2 6.8.3 6.8.4 7.1.1 7.1.2 7.1.3 7.2.1 7.2.2 7.2.3 7.2.4 7.3.1 7.3.2 7.4.1 7.4.2 7.4.3 7.4.4 7.4.5 7.5.1
  7.5.2 7.6.1 7.6.2 8.1.1 8.1.2 8.2.1 8.2.2 8.2.3 8.3.1 8.4.1 9.1.1 9.1.2 9.1.3 9.2.1 9.2.2 9.2.3 9.2.4 10.1.1
  10.1.2 10.2.1 10.2.2 10.3.1 10.3.2 10.3.3 10.3.4 10.4.1 10.4.2 10.4.3 10.4.4 10.4.5 10.4.6 10.4.7 10.4.8
  10.4.9 10.4.10 10.4.11 10.5.1 10.5.2 10.5.3 10.5.4 10.5.5 10.6.1 10.6.2 10.7.1 10.7.2 10.7.3 11.1.1 11.1.2
  11.2.1 11.2.2 11.2.3 11.3.1 11.3.2 11.3.3 11.4.1 11.4.2 11.4.3 11.4.4 11.5.1 11.6.1 12.1.1 12.1.2 12.1.3
  12.2.1 12.2.2 12.3.1 12.3.2 12.3.3 12.3.4 13.1.1 13.2.1 13.2.2 13.2.3 13.2.4 13.2.5 13.3.1 13.3.2 13.4.1
  13.4.2 13.4.3 13.4.4 13.4.5 14.1.1 14.1.2 14.2.1 14.2.2 14.2.3 14.2.4 14.3.1 14.3.2 14.3.3 15.1.1 15.1.2
  15.1.3 15.2.1 15.2.2 15.2.3 15.3.1 15.3.2 15.3.3 15.3.4 15.3.5 15.3.6 15.3.7 16.1.1 16.2.1 16.2.2 16.2.3
  16.2.4 16.2.5 16.3.1 16.3.2 16.3.3 16.3.4 16.4.1 16.4.2 16.4.3 16.5.1 16.5.2 16.5.3 17.1.1 17.2.1 17.2.2
  17.2.3 17.2.4 17.3.1 17.3.2`.split(/\s+/);

const ROW = /^\| (\d+\.\d+\.\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/;
const TEST = /`([\w./-]+\.(?:test|story)\.tsx?)`/g;
/** Instead of a test, a met row says how it is proved. */
const PROOF = /^(?:By hand[,:]|As \d|Above)/;
const COUNTS = /^(\d+) met, (\d+) not met, (\d+) not applicable: ([\d.]+) % of the applicable are met\.$/m;

it('the page of ASVS has each requirement once, with a state, tests that are there or a reason, and true counts', () => {
  const page = readFileSync(join(ROOT, 'docs/security/asvs.md'), 'utf8');
  const rows = page.split('\n').flatMap((line) => {
    const [, id, , state = '', here = ''] = ROW.exec(line) ?? [];
    return id ? [{ id, state, here, tests: [...here.matchAll(TEST)].map(([, path]) => path!) }] : [];
  });
  expect(REQUIREMENTS).toHaveLength(253);
  expect(rows.map(({ id }) => id)).toEqual(REQUIREMENTS);
  for (const { id, state, here, tests } of rows) {
    expect.soft(['met', 'not met', 'n.a.'], id).toContain(state);
    for (const path of tests) expect.soft(existsSync(join(ROOT, path)), `${id}: ${path}`).toBe(true);
    if (state === 'met' && tests.length === 0) expect.soft(here, id).toMatch(PROOF);
  }
  const count = (wanted: string) => rows.filter(({ state }) => state === wanted).length;
  const [met, notMet, notApplicable] = [count('met'), count('not met'), count('n.a.')];
  const percent = ((100 * met) / (met + notMet)).toFixed(1);
  expect(COUNTS.exec(page)?.slice(1)).toEqual([String(met), String(notMet), String(notApplicable), percent]);
  console.log(`asvs: n = ${rows.length} requirements, ${met} met, ${notMet} not met, ${notApplicable} not applicable`);
});
