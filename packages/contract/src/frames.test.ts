import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFrame, decodeRecords, encodeFrame, encodeRecord, type LogRecord } from './frames.ts';

const record = fc.record<LogRecord>({
  timeNs: fc.bigInt({ min: 0n, max: 2n ** 62n }),
  stream: fc.constantFrom('stdout', 'stderr'),
  partial: fc.boolean(),
  text: fc.uint8Array({ maxLength: 200 }),
});

describe('binary frames', () => {
  it('decode to what was encoded', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 31 }), fc.nat(), fc.uint8Array({ maxLength: 500 }), (stream, offset, bytes) => {
        expect(decodeFrame(encodeFrame({ stream, offset, bytes }))).toEqual({ stream, offset, bytes });
      }),
    );
  });

  it.each([
    [new Uint8Array(5)],
    [new Uint8Array(13)],
    [Uint8Array.from([1, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 255])],
  ])('refuse %j', (bytes) => {
    expect(() => decodeFrame(bytes)).toThrow(RangeError);
  });
});

describe('log records', () => {
  it('are reassembled however the stream was split', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 20 }), fc.nat({ max: 3000 }), (records, cutAt) => {
        const bytes = Buffer.concat(records.map(encodeRecord));
        const cut = Math.min(cutAt, bytes.length);
        const first = decodeRecords(bytes.subarray(0, cut));
        const second = decodeRecords(bytes.subarray(first.consumed));
        expect([...first.records, ...second.records].map((r) => ({ ...r, text: [...r.text] }))).toEqual(
          records.map((r) => ({ ...r, text: [...r.text] })),
        );
        expect(first.consumed + second.consumed).toBe(bytes.length);
      }),
    );
  });
});
