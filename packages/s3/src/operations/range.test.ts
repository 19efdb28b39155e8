import { describe, expect, it } from 'vitest';
import { copyRange, rangeOf } from './range.ts';

const object = { size: 10, etag: 'abc' };
const of = (header: string | null, ifRange: string | null = null) => rangeOf(header, ifRange, object);

describe('the Range of a read', () => {
  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-9', 0, 9],
    ['bytes=3-5', 3, 5],
    [' bytes=3-5 ', 3, 5],
    ['bytes=4-', 4, 9],
    ['bytes=9-', 9, 9],
    ['bytes=-1', 9, 9],
    ['bytes=-10', 0, 9],
    // Beyond the object: as much of it as there is.
    ['bytes=5-99999999999999999999999', 5, 9],
    ['bytes=-99999999999999999999999', 0, 9],
  ])('%s', (header, start, end) => {
    expect(of(header)).toEqual({ start, end });
  });

  it.each([
    null,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=1',
    'bytes=0x1-0x2',
    'bytes=1-2-3',
    'bytes=5-3',
    'bytes=0-1,3-4',
    'bytes = 0-1',
    'items=0-1',
    'bytes=-1-2',
    'bytes=1.5-2',
  ])('%s is none: the whole object', (header) => {
    expect(of(header)).toBeNull();
  });

  it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999999-'])('%s is outside', (header) => {
    expect(() => of(header)).toThrow(expect.objectContaining({ code: 'InvalidRange' }));
  });

  it.each(['bytes=0-', 'bytes=0-0', 'bytes=-1'])('%s of an empty object is outside', (header) => {
    expect(() => rangeOf(header, null, { size: 0, etag: 'abc' })).toThrow(
      expect.objectContaining({ code: 'InvalidRange' }),
    );
  });

  it('counts only while the object is the one of If-Range', () => {
    expect(of('bytes=1-2', '"abc"')).toEqual({ start: 1, end: 2 });
    expect(of('bytes=1-2', '"other"')).toBeNull();
    // Weak: not good enough for a part.
    expect(of('bytes=1-2', 'W/"abc"')).toBeNull();
    expect(of('bytes=10-', '"other"')).toBeNull();
  });
});

describe('the range of a copied part', () => {
  it('has both ends within the source', () => {
    expect(copyRange(null, 10)).toBeNull();
    expect(copyRange('bytes=0-9', 10)).toEqual({ start: 0, end: 9 });
    expect(copyRange('bytes=4-4', 10)).toEqual({ start: 4, end: 4 });
  });

  it.each(['', 'bytes=4-', 'bytes=-4', 'bytes=5-4', 'bytes=0-10', 'bytes=10-10', 'bytes=0-1,3-4', '0-4', ' bytes=0-4'])(
    '%j is refused',
    (text) => {
      expect(() => copyRange(text, 10)).toThrow(expect.objectContaining({ code: 'InvalidArgument' }));
    },
  );
});
