import { randomBytes, randomInt } from 'node:crypto';
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
  for (let n = 0; n < 50; n += 1) {
    const parts = Array.from({ length: randomInt(1, 5) }, () => randomBytes(randomInt(0, 5_000)));
    const sums = await Promise.all(
      parts.map(async (part) => ({ size: part.length, value: await checksum(algorithm, part) })),
    );
    const { value } = checksumOfParts({ algorithm, type: 'FULL_OBJECT' }, sums);
    expect([parts.map(({ length }) => length), value]).toEqual([
      parts.map(({ length }) => length),
      await checksum(algorithm, Buffer.concat(parts)),
    ]);
  }
});
