import type { ChecksumAlgorithm } from './backend.ts';

/** Reversed polynomials and widths. */
const CRCS: Partial<Record<ChecksumAlgorithm, { polynomial: bigint; bits: number }>> = {
  CRC32: { polynomial: 0xedb88320n, bits: 32 },
  CRC32C: { polynomial: 0x82f63b78n, bits: 32 },
  CRC64NVME: { polynomial: 0x9a6c9329ac4bc9b5n, bits: 64 },
};

/**
 * The CRC of two pieces of data one after the other, from the CRC of each and the length of the second: the first is
 * advanced by as many zero bytes, as a product of matrices over GF(2).
 * Source: zlib's crc32_combine, https://github.com/madler/zlib/blob/v1.2.11/crc32.c
 */
export function combineCrc(algorithm: ChecksumAlgorithm, first: bigint, second: bigint, secondBytes: number): bigint {
  const crc = CRCS[algorithm];
  if (!crc) throw new Error(`${algorithm} cannot be combined`);
  let result = first;
  let left = secondBytes;
  // The operator for one zero bit, squared up to that for one zero byte.
  let operator = squared(squared(squared(oneZeroBit(crc))));
  while (left > 0) {
    if (left % 2 === 1) result = apply(operator, result);
    left = Math.floor(left / 2);
    if (left > 0) operator = squared(operator);
  }
  return result ^ second;
}

/** Row `n`: what bit `n` becomes. */
type Matrix = readonly bigint[];

function oneZeroBit({ polynomial, bits }: { polynomial: bigint; bits: number }): Matrix {
  return Array.from({ length: bits }, (_, bit) => (bit === 0 ? polynomial : 1n << BigInt(bit - 1)));
}

const squared = (matrix: Matrix): Matrix => matrix.map((row) => apply(matrix, row));

function apply(matrix: Matrix, vector: bigint): bigint {
  let result = 0n;
  let rest = vector;
  for (let bit = 0; rest > 0n; bit++, rest >>= 1n) if (rest & 1n) result ^= matrix[bit]!;
  return result;
}
