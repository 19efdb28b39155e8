import { it } from 'vitest';
import { isFirst } from './once.ts';

it('leaves a rejection behind', () => {
  if (isFirst('unhandled once')) void Promise.reject(new Error('rejected once'));
});
