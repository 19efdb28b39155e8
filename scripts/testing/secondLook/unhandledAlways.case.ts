import { it } from 'vitest';

it('leaves a rejection behind', () => {
  void Promise.reject(new Error('rejected always'));
});
