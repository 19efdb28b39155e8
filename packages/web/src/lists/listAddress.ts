import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { PAGE_LIMIT, PAGE_LIMITS } from '../ui/table/pageLimits.ts';
import type { Sort } from '../ui/table/tableTypes.ts';

/** What the address of a list asks for; what it does not understand counts as not asked. */
export interface ListAddress {
  page: number;
  sort: Sort;
  search: string;
  statuses: string[];
  /** Ready for a list call. */
  request: Pick<
    EntityFilterRequest,
    'page' | 'limit' | 'orderByField' | 'orderByDirection' | 'queryString' | 'statuses'
  >;
  /** A filter of the page's own, kept in the address too. */
  filter(name: string): string;
  /** Of a filter that lets several values through: those that are asked for. */
  values(name: string): string[];
}

const SEARCH_MAX = 200;
/** Between the values of one filter. */
export const SEPARATOR = ',';
export const NEWEST_FIRST: Sort = { field: 'createdAt', direction: 'desc' };

export function listAddress(params: URLSearchParams, defaultSort: Sort = NEWEST_FIRST): ListAddress {
  const page = parsePage(params.get('page'));
  const limit = PAGE_LIMITS.find((allowed) => String(allowed) === params.get('limit')) ?? PAGE_LIMIT;
  const sort = parseSort(params.get('sort')) ?? defaultSort;
  const search = (params.get('q') ?? '').trim().slice(0, SEARCH_MAX);
  const statuses = params.getAll('status');
  return {
    page,
    sort,
    search,
    statuses,
    request: {
      page,
      limit,
      orderByField: sort.field,
      orderByDirection: sort.direction,
      queryString: search || undefined,
      statuses: statuses.length > 0 ? statuses : undefined,
    },
    filter: (name) => params.get(name) ?? '',
    values: (name) => (params.get(name) ?? '').split(SEPARATOR).filter(Boolean),
  };
}

/** The words of a fixed choice that are among the values of a filter; unknown values are ignored. */
export function knownValues<Word extends string>(values: readonly string[], words: readonly Word[]): Word[] {
  return words.filter((word) => values.includes(word));
}

/** What is no page number counts as the first page; one beyond the last is mended when the list is known. */
function parsePage(value: string | null): number {
  return /^[1-9]\d{0,5}$/.test(value ?? '') ? Number(value) : 1;
}

function parseSort(value: string | null): Sort | null {
  const match = /^([A-Za-z]{1,40})\.(asc|desc)$/.exec(value ?? '');
  return match?.[1] ? { field: match[1], direction: match[2] === 'asc' ? 'asc' : 'desc' } : null;
}
