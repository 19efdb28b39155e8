import { expect, it } from 'vitest';
import { ListInput, refOr } from './page.ts';

const message = 'Instance is required';

it.each([undefined, null, {}, { id: 'one' }])('refuses %o with its own message', (input) => {
  expect(refOr(message).safeParse(input).error?.issues).toMatchObject([{ path: [], message }]);
});

it('takes an id or a slug', () => {
  expect(refOr(message).parse({ id: 3 })).toEqual({ id: 3 });
  expect(refOr(message).parse({ slug: ' gpu-1 ' })).toEqual({ slug: 'gpu-1' });
});

it('asks for at most 100 entities a page, and for 10 unless told', () => {
  const limitOf = (limit?: number) =>
    ListInput.safeParse({ entityFilterRequest: { limit } }).data?.entityFilterRequest.limit;
  expect([undefined, 1, 100].map(limitOf)).toEqual([10, 1, 100]);
  expect([0, 101, 1_000, 1.5].map(limitOf)).toEqual(Array(4).fill(undefined));
});
