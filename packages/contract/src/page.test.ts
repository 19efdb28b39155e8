import { expect, it } from 'vitest';
import { refOr } from './page.ts';

const message = 'Server is required';

it.each([undefined, null, {}, { id: 'one' }])('refuses %o with its own message', (input) => {
  expect(refOr(message).safeParse(input).error?.issues).toMatchObject([{ path: [], message }]);
});

it('takes an id or a slug', () => {
  expect(refOr(message).parse({ id: 3 })).toEqual({ id: 3 });
  expect(refOr(message).parse({ slug: ' gpu-1 ' })).toEqual({ slug: 'gpu-1' });
});
