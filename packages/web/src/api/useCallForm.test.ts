import { expect, it } from 'vitest';
import { toldOnce } from './useCallForm.ts';

it.each([
  [['email', 'password'], { email: true, password: 'wrong' }],
  [['password'], { password: 'wrong' }],
  [['a', 'b.0', 'c'], { a: true, 'b.0': true, c: 'wrong' }],
  [[], {}],
])('says one text for the fields %j once, and marks them all', (paths, told) => {
  expect(toldOnce(paths, 'wrong')).toEqual(told);
});
