import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checksumOfParts, hasherOf } from './checksums.ts';

async function checksum(algorithm: 'CRC32' | 'CRC32C' | 'CRC64NVME', data: Buffer): Promise<string> {
  const hasher = hasherOf(algorithm);
  hasher.update(data);
  return (await hasher.digest()).toString('base64');
}

/** The check values of the catalogue of CRCs, for "123456789". */
it.each([
  ['CRC32', 'cbf43926'],
  ['CRC32C', 'e3069283'],
  ['CRC64NVME', 'ae8b14860a799888'],
] as const)('%s has its check value, and that of parts is that of the whole', async (algorithm, hex) => {
  expect(Buffer.from(await checksum(algorithm, Buffer.from('123456789')), 'base64').toString('hex')).toBe(hex);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 5_000 }), { minLength: 1, maxLength: 4 }), async (some) => {
      const parts = some.map((bytes) => Buffer.from(bytes));
      const sums = await Promise.all(
        parts.map(async (part) => ({ size: part.length, value: await checksum(algorithm, part) })),
      );
      const { value } = checksumOfParts({ algorithm, type: 'FULL_OBJECT' }, sums);
      expect(value).toBe(await checksum(algorithm, Buffer.concat(parts)));
    }),
    { numRuns: 50 },
  );
});
