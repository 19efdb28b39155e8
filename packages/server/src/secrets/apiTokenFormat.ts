import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * `stg_{id}_{secret}`: 256 random bits as 43 base-62 digits, then 6 digits of a checksum over everything before. A double
 * click selects the whole token. Secret scanners find it by `\bstg_[1-9][0-9]{0,9}_[0-9A-Za-z]{49}\b` and rule out false
 * positives by the checksum.
 */
const TOKEN = /^stg_([1-9]\d{0,9})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const ID_MAX = 2 ** 31 - 1;

export interface ParsedApiToken {
  id: number;
  secret: string;
}

export const newTokenSecret = (): string => toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH);

export function formatApiToken({ id, secret }: ParsedApiToken): string {
  const body = `${tokenPrefix(id)}${secret}`;
  return body + checksumOf(body);
}

/** `null` for a text that is no token, without a query. */
export function parseApiToken(text: string): ParsedApiToken | null {
  const [, id, secret, checksum] = TOKEN.exec(text) ?? [];
  if (!id || !secret || Number(id) > ID_MAX) return null;
  return checksumOf(`${tokenPrefix(Number(id))}${secret}`) === checksum ? { id: Number(id), secret } : null;
}

export const tokenPrefix = (id: number): string => `stg_${id}_`;

/** A fast hash suffices, as 2^256 secrets cannot be guessed like passwords, and every call computes it. */
export const hashTokenSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export const matchesHash = ({ secret }: ParsedApiToken, hash: Buffer): boolean =>
  timingSafeEqual(hashTokenSecret(secret), hash);

const checksumOf = (body: string): string => toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);

function toBase62(value: bigint, length: number): string {
  const base = BigInt(DIGITS.length);
  let text = '';
  for (let rest = value; text.length < length; rest /= base) text = DIGITS[Number(rest % base)] + text;
  return text;
}
