import { expect, it } from 'vitest';
import { everyCall } from './api.ts';
import { isReadOnly } from './audit.ts';
import { ENTITIES, entityOf } from './entities.ts';

/** Acts of a workspace or an operator that are about no thing with a row of its own. */
const ABOUT_NOTHING = new Set([
  'billing/resume',
  'promo-code/activate',
  'admin/ledger/verify',
  'admin/audit/check-all',
  'admin/provider/check',
]);

it('every act is about a kind of thing that the lists know', () => {
  const acts = everyCall().filter(({ path, auth }) => auth !== 'public' && auth !== 'signed-in' && !isReadOnly(path));
  expect(acts.length).toBeGreaterThan(0);
  const unknown = acts.filter(({ path }) => entityOf(path) === null && !ABOUT_NOTHING.has(path));
  expect(
    unknown.map(({ path }) => path),
    'add their kinds to ENTITIES',
  ).toEqual([]);
});

it('every kind has a call, and the longest beginning counts', () => {
  for (const entity of ENTITIES)
    expect
      .soft(
        everyCall().some(({ path }) => path.startsWith(`${entity}/`)),
        entity,
      )
      .toBe(true);
  expect(entityOf('client/member/edit')).toBe('client/member');
  expect(entityOf('client/edit')).toBe('client');
  expect(entityOf('clients/edit')).toBeNull();
});
