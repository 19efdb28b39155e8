import { ROLES } from '@stagi/contract/permissions.ts';
import { expect, it } from 'vitest';
import { knownValues, listAddress } from './listAddress.ts';

it('reads of an address the values of a filter, and those that it knows', () => {
  const { values } = listAddress(new URLSearchParams('role=Guest,Emperor,Owner,'));
  expect(values('role')).toEqual(['Guest', 'Emperor', 'Owner']);
  expect(knownValues(values('role'), ROLES)).toEqual(['Owner', 'Guest']);
  expect(values('plan')).toEqual([]);
});
