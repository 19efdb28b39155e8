import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * `stg_{id}_{secret}`: 43 letters and digits of 256 random bits, then 6 of a checksum over what comes before. One word
 * for whoever selects it by a double click; programs that look for lost secrets know it by
 * `\bstg_[1-9][0-9]{0,9}_[0-9A-Za-z]{49}\b` and tell by the checksum that it is none of their false alarms.
 */
const TOKEN = /^stg_([1-9]\d{0,9})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const ID_MAX = 2 ** 31 - 1;

export interface ReadToken {
  id: number;
  secret: string;
}

export const newSecret = (): string => inDigits(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH);

export function writeApiToken({ id, secret }: ReadToken): string {
  const body = `${prefixOf(id)}${secret}`;
  return body + checksumOf(body);
}

/** `null` for what is no token of ours, without asking the database. */
export function readApiToken(text: string): ReadToken | null {
  const [, id, secret, checksum] = TOKEN.exec(text) ?? [];
  if (!id || !secret || Number(id) > ID_MAX) return null;
  return checksumOf(`${prefixOf(Number(id))}${secret}`) === checksum ? { id: Number(id), secret } : null;
}

export const prefixOf = (id: number): string => `stg_${id}_`;

/** A fast hash is enough, and every call pays for it: nobody can try 2^256 secrets, as they can passwords. */
export const hashOfSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export const isSecretOf = ({ secret }: ReadToken, hash: Buffer): boolean => timingSafeEqual(hashOfSecret(secret), hash);

const checksumOf = (body: string): string => inDigits(BigInt(crc32(body)), CHECKSUM_LENGTH);

function inDigits(value: bigint, length: number): string {
  const base = BigInt(DIGITS.length);
  let text = '';
  for (let rest = value; text.length < length; rest /= base) text = DIGITS[Number(rest % base)] + text;
  return text;
}
