import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { AwsCrc32c } from '@aws-crypto/crc32c';
import { Crc64Nvme } from '@aws-sdk/crc64-nvme';
import type { Checksum, ChecksumAlgorithm } from './backend.ts';
import { combineCrc } from './combineCrc.ts';
import { S3Error } from './errors.ts';

/**
 * The checksums of the S3 API.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
 */
export const ALGORITHMS: readonly ChecksumAlgorithm[] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'];

const BYTES: Record<ChecksumAlgorithm, number> = { CRC32: 4, CRC32C: 4, CRC64NVME: 8, SHA1: 20, SHA256: 32 };

export const checksumHeader = (algorithm: ChecksumAlgorithm): string => `x-amz-checksum-${algorithm.toLowerCase()}`;

export interface Hasher {
  update(data: Buffer): void;
  digest(): Promise<Buffer>;
}

export function hasherOf(algorithm: ChecksumAlgorithm): Hasher {
  switch (algorithm) {
    case 'CRC32': {
      let value = 0;
      return {
        update(data) {
          value = crc32(data, value);
        },
        async digest() {
          const bytes = Buffer.alloc(4);
          bytes.writeUInt32BE(value);
          return bytes;
        },
      };
    }
    case 'CRC32C':
      return viaAws(new AwsCrc32c());
    case 'CRC64NVME':
      return viaAws(new Crc64Nvme());
    case 'SHA1':
    case 'SHA256': {
      const hash = createHash(algorithm.toLowerCase());
      return {
        update: (data) => void hash.update(data),
        digest: async () => hash.digest(),
      };
    }
  }
}

function viaAws(hash: { update(data: Uint8Array): void; digest(): Promise<Uint8Array> }): Hasher {
  return {
    update: (data) => hash.update(data),
    digest: async () => Buffer.from(await hash.digest()),
  };
}

/** The algorithm of a name in a header or a request. Throws `S3Error` for one that S3 does not have. */
export function algorithmOf(name: string): ChecksumAlgorithm {
  const found = ALGORITHMS.find((algorithm) => algorithm === name.toUpperCase());
  if (!found) throw new S3Error('InvalidRequest', 'Checksum algorithm provided is unsupported');
  return found;
}

/** Throws unless it is the base64 of as many bytes as the algorithm gives. */
export function requireChecksumText(algorithm: ChecksumAlgorithm, text: string): string {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== BYTES[algorithm] || bytes.toString('base64') !== text)
    throw new S3Error('InvalidRequest', `Value for ${checksumHeader(algorithm)} header is invalid`);
  return text;
}

interface PartChecksum {
  size: number;
  /** Base64. */
  value: string;
}

/** The checksum of an object of several parts, from those of its parts. */
export function checksumOfParts(
  { algorithm, type }: Pick<Checksum, 'algorithm' | 'type'>,
  parts: readonly PartChecksum[],
): Checksum {
  const values = parts.map(({ value }) => Buffer.from(value, 'base64'));
  if (type === 'COMPOSITE') return { algorithm, type, value: composite(algorithm, values) };
  const combined = parts
    .map(({ size }, index) => ({ size, crc: BigInt(`0x${values[index]!.toString('hex')}`) }))
    .reduce((all, part) => ({
      size: all.size + part.size,
      crc: combineCrc(algorithm, all.crc, part.crc, part.size),
    }));
  const hex = combined.crc.toString(16).padStart(BYTES[algorithm] * 2, '0');
  return { algorithm, type, value: Buffer.from(hex, 'hex').toString('base64') };
}

/** The checksum of the parts' checksums, and their number. */
function composite(algorithm: ChecksumAlgorithm, values: readonly Buffer[]): string {
  const all = Buffer.concat(values);
  if (algorithm === 'SHA1' || algorithm === 'SHA256')
    return `${createHash(algorithm.toLowerCase()).update(all).digest('base64')}-${values.length}`;
  if (algorithm === 'CRC64NVME') throw new S3Error('InvalidRequest', 'CRC64NVME is never composite');
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(algorithm === 'CRC32' ? crc32(all) : crc32c(all));
  return `${bytes.toString('base64')}-${values.length}`;
}

function crc32c(data: Buffer): number {
  // The library digests asynchronously only for the sake of its interface.
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
