import { expect, it } from 'vitest';
import { listAddress } from '../../../lists/listAddress.ts';
import { tasksInput } from './listInput.ts';

const inputOf = (query: string) => tasksInput(listAddress(new URLSearchParams(query)), 3);

it('asks for the tasks of its project, newest first', () => {
  expect(inputOf('')).toMatchObject({
    projectRef: { id: 3 },
    instanceRef: undefined,
    scheduleId: undefined,
    favorites: false,
    entityFilterRequest: { orderByField: 'createdAt', orderByDirection: 'desc' },
  });
});

it('reads server, schedule and favourites of the address', () => {
  expect(inputOf('server=7&schedule=9&favorites=1&q=mnist')).toMatchObject({
    instanceRef: { id: 7 },
    scheduleId: 9,
    favorites: true,
    entityFilterRequest: { queryString: 'mnist' },
  });
});

it('asks for all where the address names no id', () => {
  expect(inputOf('server=trainer&schedule=0&favorites=yes')).toMatchObject({
    instanceRef: undefined,
    scheduleId: undefined,
    favorites: false,
  });
});
