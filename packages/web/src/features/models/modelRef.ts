import type { ModelRef } from '@stagi/contract/models.ts';

/** The model of an address `/models/{name}?id={repository}`: by its repository where that is given, as it is unique. */
export function modelRefOf(name: string | undefined, search: URLSearchParams): ModelRef {
  const id = search.get('id')?.trim();
  return id ? { id } : { name: name ?? '' };
}
