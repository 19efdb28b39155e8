import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { text } from '@stagi/contract/text.ts';
import { type RawBuilder, sql } from 'kysely';
import { invalid } from './errors.ts';

/** The column a list is sorted by, or several: only those that `columns` names, by the names of the contract. */
export function sortColumn<T extends string | readonly string[]>(
  request: EntityFilterRequest,
  columns: Record<string, T>,
): T {
  const column = Object.hasOwn(columns, request.orderByField) ? columns[request.orderByField] : undefined;
  if (column) return column;
  throw invalid(text('This list cannot be sorted by {{field}}'), 'entityFilterRequest.orderByField', {
    field: request.orderByField,
  });
}

/** A LIKE pattern that matches a text anywhere. */
export const containsPattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Matches a text anywhere, ignoring case; `%` and `_` are literal. */
export function contains(columns: readonly (string | RawBuilder<string>)[], text: string): RawBuilder<boolean> {
  const pattern = containsPattern(text);
  return sql<boolean>`(${sql.join(
    columns.map((column) => sql`${typeof column === 'string' ? sql.ref(column) : column} ilike ${pattern}`),
    sql` or `,
  )})`;
}

/** An id from a request may exceed int4: then it matches nothing, instead of an error. */
export function isId(column: string, id: number): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(column)} = ${id}::bigint`;
}

export const offsetOf = ({ page, limit }: EntityFilterRequest): number => (page - 1) * limit;

/** `isMore`: there are more rows than were counted. */
export function pageOf<T>(entities: T[], totalCount: number, { limit }: EntityFilterRequest, isMore = false) {
  const totalPages = Math.ceil(totalCount / limit);
  return { isSuccess: true as const, entities, totalCount, totalPages, ...(isMore && { isMore }) };
}
