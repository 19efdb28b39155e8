import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './run.ts';

/** The level 1 requirements of OWASP ASVS 5.0.0. */
const LEVEL_1 = `1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.5.1 2.1.1 2.2.1 2.2.2 2.3.1 3.2.1 3.2.2 3.3.1 3.4.1 3.4.2
  3.5.1 3.5.2 3.5.3 4.1.1 4.4.1 5.2.1 5.2.2 5.3.1 5.3.2 6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8 6.3.1
  6.3.2 6.4.1 6.4.2 7.2.1 7.2.2 7.2.3 7.2.4 7.4.1 7.4.2 8.1.1 8.2.1 8.2.2 8.3.1 9.1.1 9.1.2 9.1.3 9.2.1 10.4.1 10.4.2
  10.4.3 10.4.4 10.4.5 11.3.1 11.3.2 11.4.1 12.1.1 12.2.1 12.2.2 13.4.1 14.2.1 14.3.1 15.1.1 15.2.1 15.3.1`.split(
  /\s+/,
);

const ROW = /^\| (\d+\.\d+\.\d+) \| ([^|]+) \| ([^|]+) \|$/;
const TEST = /`([\w./-]+\.(?:test|story)\.tsx?)`/g;
/** How a row says why no test of its own stands there. */
const REASON = /^(?:Not here:|Differs:|By hand,|As \d|Above|In the making:)/;

it('the guard table has each requirement of level 1 once, with tests that are there or a reason', () => {
  const rows = readFileSync(join(ROOT, 'docs/SECURITY.md'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, id, , here = ''] = ROW.exec(line) ?? [];
      return id ? [{ id, here, tests: [...here.matchAll(TEST)].map(([, path]) => path!) }] : [];
    });
  expect(LEVEL_1).toHaveLength(70);
  expect(rows.map(({ id }) => id)).toEqual(LEVEL_1);
  for (const { id, here, tests } of rows) {
    for (const path of tests) expect.soft(existsSync(join(ROOT, path)), `${id}: ${path}`).toBe(true);
    if (tests.length === 0) expect.soft(here, id).toMatch(REASON);
  }
  const proved = rows.filter(({ tests }) => tests.length > 0).length;
  const open = rows.filter(({ here }) => here.startsWith('In the making')).length;
  console.log(`guard table: n = ${rows.length} requirements, ${proved} with tests, ${open} in the making`);
});
