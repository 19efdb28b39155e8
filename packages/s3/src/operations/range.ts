import type { S3Object } from '../backend.ts';
import type { ByteRange } from '../blobStore.ts';
import { S3Error } from '../errors.ts';

/** One range. What is no range, or several, is ignored, as S3 does. Throws InvalidRange. */
export function rangeOf(
  header: string | null,
  ifRange: string | null,
  { size, etag }: Pick<S3Object, 'size' | 'etag'>,
): ByteRange | null {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (ifRange !== null && ifRange !== `"${etag}"`) return null;
  const start = first === '' ? Math.max(size - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  if (start > end)
    throw new S3Error('InvalidRange', undefined, { RangeRequested: header!, ActualObjectSize: String(size) });
  return { start, end };
}

/** Both ends are needed, and lie within the source. */
export function copyRange(text: string | null, size: number): ByteRange | null {
  if (text === null) return null;
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  const [start, end] = [Number(first), Number(last)];
  if (first === undefined || start > end)
    throw new S3Error(
      'InvalidArgument',
      'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
    );
  if (end >= size)
    throw new S3Error('InvalidArgument', `Range specified is not valid for source object of size: ${size}`);
  return { start, end };
}
