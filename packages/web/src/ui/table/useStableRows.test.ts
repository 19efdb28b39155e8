import { newSeed } from '@stagi/contract/testing/random.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mergeInPlace } from './useStableRows.ts';

interface Row {
  id: number;
  text: string;
}

const keyOf = (row: Row) => row.id;
const row = (id: number, text = '') => ({ id, text });

it('shows new contents in old places, keeps what left and lets what came wait', () => {
  const kept = mergeInPlace([row(1), row(2), row(3)], [row(9), row(3, 'new'), row(1)], keyOf);
  expect(kept.rows).toEqual([
    { row: row(1), gone: false },
    { row: row(2), gone: true },
    { row: row(3, 'new'), gone: false },
  ]);
  expect(kept.waiting).toBe(1);
});

it('never moves a row, whatever arrives', () => {
  const seed = newSeed();
  const numRuns = 500;
  const rows = fc.uniqueArray(fc.record({ id: fc.nat(30), text: fc.string() }), { selector: keyOf });
  fc.assert(
    fc.property(rows, rows, (old, fresh) => {
      const kept = mergeInPlace(old, fresh, keyOf);
      expect(kept.rows.map(({ row: { id } }) => id)).toEqual(old.map(keyOf));
      expect(kept.rows.filter(({ gone }) => !gone).length + kept.waiting).toBe(fresh.length);
    }),
    { seed, numRuns },
  );
  console.log(`steady rows: seed ${seed}, n = ${numRuns}`);
});
