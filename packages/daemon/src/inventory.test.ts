import type { DesiredState } from '@stagi/contract/desiredState.ts';
import { expect, it } from 'vitest';
import { rememberedOf } from './inventory.ts';
import type { SeenContainer } from './plan.ts';

const told = (id: number, gen: number, specNo?: number) => ({ id, gen, specNo });
const shown = (id: number, createdGen: number, begunGen: number, specNo?: number) => ({
  id,
  createdGen,
  begunGen,
  specNo,
});

it('remembers the highest generation and specification of a container, told, shown or recorded', () => {
  const remembered = rememberedOf({
    desired: { containers: [told(1, 5, 2), told(2, 3), told(4, 2)] } as DesiredState,
    seen: [shown(1, 2, 4, 1), shown(3, 7, 0, 3)] as SeenContainer[],
    records: {
      generations: () => [
        { id: 1, gen: 4, begunGen: 4 },
        { id: 4, gen: 6, begunGen: 6 },
      ],
    },
  });
  expect(remembered.toSorted((a, b) => a.id - b.id)).toEqual([
    { id: 1, gen: 5, begunGen: 4, specNo: 2 },
    { id: 2, gen: 3, begunGen: 0, specNo: 1 },
    { id: 3, gen: 7, begunGen: 0, specNo: 3 },
    // Somebody has removed it.
    { id: 4, gen: 6, begunGen: 6, specNo: 1 },
  ]);
});
