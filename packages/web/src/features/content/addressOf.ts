import type { ContentEntry } from '@stagi/contract/content.ts';

/** Of a post with its id, by which it is found under another name. */
export const addressOf = ({ path, id }: Pick<ContentEntry, 'path' | 'id'>): string =>
  id === null ? path : `${path}?id=${id}`;
