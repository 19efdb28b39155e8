import { expect, it } from 'vitest';
import { matchingChoices, namedChoices } from './choices.ts';

it('names plain values by themselves and objects by their fields', () => {
  expect(namedChoices(['a', 2]).map(({ key, label }) => [key, label])).toEqual([
    ['a', 'a'],
    [2, '2'],
  ]);
  const servers = [{ id: 7, title: 'Lab', disabled: true, group: 'Rented' }];
  expect(namedChoices(servers, { labelField: 'title', keyField: 'id' })[0]).toMatchObject({
    key: 7,
    label: 'Lab',
    disabled: true,
    group: 'Rented',
  });
});

it('matches anywhere in the label, whatever case, with blanks around it', () => {
  const choices = namedChoices(['Alpha', 'Beta', 'alphabet']);
  expect(matchingChoices(choices, ' ALPHA ').map(({ label }) => label)).toEqual(['Alpha', 'alphabet']);
  expect(matchingChoices(choices, '  ')).toHaveLength(3);
});
