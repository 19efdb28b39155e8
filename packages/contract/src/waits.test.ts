import { expect, it } from 'vitest';
import { waitOf } from './waits.ts';

const TABLE: [seconds: number, told: string][] = [
  [3_187, '54 minute'],
  [0, '1 second'],
  [0.2, '1 second'],
  [1, '1 second'],
  [59.5, '60 second'],
  [120, '120 second'],
  [121, '3 minute'],
  [900, '15 minute'],
  [3_600, '60 minute'],
  [7_200, '120 minute'],
  [7_201, '3 hour'],
  [86_400, '24 hour'],
];

it('says a wait in the unit that people count it in, never shorter than it is', () => {
  const SECONDS = { second: 1, minute: 60, hour: 3_600 };
  for (const [seconds, told] of TABLE) {
    const { unit, count } = waitOf(seconds);
    expect({ seconds, told: `${count} ${unit}` }).toEqual({ seconds, told });
    expect(count * SECONDS[unit]).toBeGreaterThanOrEqual(seconds);
  }
  console.log(`waits: n = ${TABLE.length}`);
});
