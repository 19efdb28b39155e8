import type { S3Object, WriteCondition } from './backend.ts';
import { S3Error } from './errors.ts';
import type { Headers } from './request.ts';

export type ReadVerdict = 'give' | 'not modified';

/**
 * The conditions of a read, with the precedence of RFC 9110, section 13.2.2. `prefix`: of the headers, as in
 * `x-amz-copy-source-if-match`. Throws PreconditionFailed.
 */
export function readCondition(
  headers: Headers,
  { etag, modifiedAt }: Pick<S3Object, 'etag' | 'modifiedAt'>,
  prefix = '',
): ReadVerdict {
  const ifMatch = headers.get(`${prefix}if-match`);
  const ifNoneMatch = headers.get(`${prefix}if-none-match`);
  if (ifMatch !== null) {
    if (!matches(ifMatch, etag)) throw new S3Error('PreconditionFailed', undefined, { Condition: 'If-Match' });
  } else if (isLater(modifiedAt, headers.get(`${prefix}if-unmodified-since`)) === true)
    throw new S3Error('PreconditionFailed', undefined, { Condition: 'If-Unmodified-Since' });
  if (ifNoneMatch !== null) return matches(ifNoneMatch, etag) ? 'not modified' : 'give';
  return isLater(modifiedAt, headers.get(`${prefix}if-modified-since`)) === false ? 'not modified' : 'give';
}

/** Those of a write: If-None-Match is `*` alone. Throws `S3Error`. */
export function writeCondition(headers: Headers): WriteCondition | undefined {
  const ifMatch = headers.get('if-match');
  const ifNoneMatch = headers.get('if-none-match');
  if (ifMatch !== null && ifNoneMatch !== null)
    throw new S3Error('InvalidRequest', 'Either If-Match or If-None-Match, not both');
  if (ifMatch !== null) return { ifMatch: unquoted(ifMatch) };
  if (ifNoneMatch === null) return undefined;
  if (ifNoneMatch !== '*') throw new S3Error('NotImplemented', 'If-None-Match of a write must be *');
  return { ifNoneMatch };
}

export const unquoted = (etag: string): string => etag.trim().replace(/^(?:W\/)?"(.*)"$/, '$1');

const matches = (header: string, etag: string): boolean =>
  header.split(',').some((one) => one.trim() === '*' || unquoted(one) === etag);

/** In whole seconds, as HTTP dates are. Null: the header is missing or no date. */
function isLater(modifiedAt: Date, header: string | null): boolean | null {
  const time = header === null ? Number.NaN : Date.parse(header);
  return Number.isNaN(time) ? null : Math.floor(modifiedAt.getTime() / 1000) > Math.floor(time / 1000);
}
