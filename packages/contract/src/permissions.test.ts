import { describe, expect, it } from 'vitest';
import { holdsAny, type Permission } from './permissions.ts';

/** Other tests take this rule for granted. */
describe('whether somebody holds one of the permissions wanted', () => {
  it.each<[string, Permission[], Permission[], boolean]>([
    ['the only one', ['BILLING'], ['BILLING'], true],
    ['the first of two', ['BILLING'], ['BILLING', 'PROJECT'], true],
    ['the second of two', ['PROJECT'], ['BILLING', 'PROJECT'], true],
    ['one among others', ['BASIC_ACTIONS', 'PROJECT', 'RUNNING_TASKS'], ['BILLING', 'PROJECT'], true],
    ['another one', ['PROJECT'], ['BILLING'], false],
    ['one whose name only begins alike', ['PROJECT'], ['PROJECT_MANAGEMENT'], false],
    ['one whose name only begins alike, the other way round', ['PROJECT_MANAGEMENT'], ['PROJECT'], false],
    ['none at all', [], ['BILLING'], false],
    ['some, of none wanted', ['BILLING'], [], false],
    ['none, of none wanted', [], [], false],
  ])('holds %s', (_, held, wanted, holds) => {
    expect(holdsAny(held, wanted), `${held.join(', ') || 'nothing'} against ${wanted.join(', ') || 'nothing'}`).toBe(
      holds,
    );
  });
});
