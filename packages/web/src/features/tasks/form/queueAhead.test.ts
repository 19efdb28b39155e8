import { expect, it } from 'vitest';
import { queueAhead } from './queueAhead.ts';

const WAITING = [
  { id: 1, position: 2, priority: 'normal' },
  { id: 2, position: 3, priority: 'low' },
  { id: 3, position: 1, priority: 'high' },
  // Has its place already.
  { id: 4, position: null, priority: 'high' },
] as const;

const ahead = (priority: 'low' | 'normal' | 'high') => queueAhead(WAITING, priority).map(({ id }) => id);

it('puts a new task behind those of its priority and above', () => {
  expect(ahead('low')).toEqual([3, 1, 2]);
  expect(ahead('normal')).toEqual([3, 1]);
  expect(ahead('high')).toEqual([3]);
});
