import { expect, it } from 'vitest';
import { listAddress } from '../../../lists/listAddress.ts';
import { escaped, modelsInput, NEWEST } from './modelsInput.ts';

const inputOf = (search: string) => modelsInput(listAddress(new URLSearchParams(search), NEWEST));

it('asks for the newest models, a page of rows of any width', () => {
  expect(inputOf('').entityFilterRequest).toMatchObject({
    page: 1,
    limit: 24,
    orderByField: 'releasedAt',
    orderByDirection: 'desc',
  });
  expect(Object.values(inputOf('').filters ?? {}).every((value) => value === undefined)).toBe(true);
});

it('reads every filter of an address', () => {
  const { filters } = inputOf(
    'task=code,reasoning&publisher=Meta&size=4-10&context=128000&licence=mit&gpu=l4.2&quality=M',
  );
  expect(filters).toEqual({
    tasks: ['reasoning', 'code'],
    publishers: ['Meta'],
    licences: ['mit'],
    minParameters: 4e9,
    maxParameters: 10e9,
    minContext: 128_000,
    gpu: 'l4',
    gpuCount: 2,
    quality: 'M',
  });
  expect(inputOf('size=130-').filters).toMatchObject({ minParameters: 130e9, maxParameters: undefined });
});

it('ignores what it does not understand', () => {
  const { filters, entityFilterRequest } = inputOf(
    'task=cooking&size=-&context=1e9&gpu=L4;drop.3&quality=XXL&sort=rating.asc&page=zero',
  );
  expect(Object.values(filters ?? {}).every((value) => value === undefined)).toBe(true);
  expect(entityFilterRequest).toMatchObject({ page: 1, orderByField: 'releasedAt' });
});

it('keeps names with commas whole', () => {
  for (const name of ['Models, Inc.', '100%, sure', '%2C'])
    expect(inputOf(`${new URLSearchParams({ publisher: `${escaped(name)},Meta` })}`).filters?.publishers).toEqual([
      name,
      'Meta',
    ]);
});
