import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const styles = createRequire(import.meta.url).resolve('@mantine/core/styles.layer.css');
const whole = readFileSync(styles, 'utf8');

it('loads the parts of the library in the order of its own style sheet', () => {
  const parts = [
    ...readFileSync(join(import.meta.dirname, 'mantine.ts'), 'utf8').matchAll(/core\/styles\/([A-Z]\w+)\.layer\.css/g),
  ].map((match) => match[1] ?? '');
  expect(parts.length).toBeGreaterThan(30);
  expect(parts).toEqual([...parts].sort((one, other) => placeOf(one) - placeOf(other)));
});

/** Where the first of its classes stands in the whole: what is made of a part must come after it to win. */
function placeOf(part: string): number {
  const sheet = readFileSync(join(styles, '..', 'styles', `${part}.layer.css`), 'utf8');
  const classes = [...new Set([...sheet.matchAll(/\.(m_[0-9a-f]+)/g)].map((match) => match[0]))];
  return Math.min(...classes.slice(0, 3).map((name) => whole.indexOf(name)));
}
