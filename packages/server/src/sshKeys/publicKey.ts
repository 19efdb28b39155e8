import { createHash, createPublicKey } from 'node:crypto';
import { privateKeyProblem } from '@stagi/contract/privateKey.ts';
import { invalid, type PublicError } from '../http/errors.ts';
import { cutKey, isKeyType, keyProblem, unknownType, unsafeDsa, wrongRsaSize } from './keyProblem.ts';
import { mendedKey } from './mendedKey.ts';

export interface PublicKey {
  /** `ssh-ed25519`, `ssh-rsa`, … */
  type: string;
  /** Canonical: type and base64, nothing else. */
  line: string;
  comment: string | null;
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  fingerprint: string;
}

const MAX_COMMENT = 200;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 16_384;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const KNOWN_TYPES: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'sk-ssh-ed25519@openssh.com',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ecdsa-sha2-nistp256@openssh.com',
]);

/**
 * Reads one line of OpenSSH's public key format (RFC 4253 section 6.6, RFC 5656, RFC 8709, PROTOCOL.u2f).
 * Options and further lines, which authorized_keys allows, are refused: the line is written into root's file. A wrapped
 * key is put together. Throws what the text is instead and what to do; nothing of a private key is in it.
 */
export function parsePublicKey(pasted: string): PublicKey {
  const secret = privateKeyProblem(pasted);
  if (secret) throw invalid(secret, 'publicKey');
  const line = mendedKey(pasted, (type, base64) => blobOf(type, base64) !== null);
  const [type, afterType] = firstWord(line);
  const [base64, comment] = firstWord(afterType);
  const blob = blobOf(type, base64);
  if (!blob || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(comment)) throw problemOf(line, type, base64);
  return {
    type,
    line: `${type} ${base64}`,
    comment: comment.trim().slice(0, MAX_COMMENT) || null,
    fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace('=', '')}`,
  };
}

/** The bytes of a key; null: it is none of this type. */
function blobOf(type: string, base64: string): Buffer | null {
  if (!BASE64.test(base64)) return null;
  const blob = Buffer.from(base64, 'base64');
  return blob.toString('base64') === base64 && isKey(type, blob) ? blob : null;
}

/** A line that begins with a type and base64, or anything else. */
function problemOf(line: string, type: string, base64: string): PublicError {
  if (!isKeyType(type) || !BASE64.test(base64)) return keyProblem(line);
  if (type === 'ssh-dss') return unsafeDsa();
  const blob = Buffer.from(base64, 'base64');
  if (blob.toString('latin1', 4, 4 + type.length) !== type) return keyProblem(line);
  const fields = readFields(blob);
  // One on several lines, which is not a key together, may be two.
  if (!fields) return /[\r\n]/.test(line) ? keyProblem(line) : cutKey();
  const [, , modulus] = fields;
  if (type === 'ssh-rsa' && fields.length === 3 && isPositiveMpint(modulus!)) {
    const bits = bitsOf(modulus!);
    if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) return wrongRsaSize(bits);
  }
  return KNOWN_TYPES.has(type) ? keyProblem(line) : unknownType(type);
}

/** The text up to the first space or tab, and what follows the spaces and tabs there. */
function firstWord(line: string): [word: string, rest: string] {
  const end = line.search(/[ \t]/);
  return end < 0 ? [line, ''] : [line.slice(0, end), line.slice(end).replace(/^[ \t]+/, '')];
}

function isKey(type: string, blob: Buffer): boolean {
  const fields = readFields(blob);
  if (!fields || fields[0]?.toString('latin1') !== type) return false;
  const rest = fields.slice(1);
  switch (type) {
    case 'ssh-ed25519':
      return rest.length === 1 && rest[0]!.length === 32;
    case 'sk-ssh-ed25519@openssh.com':
      return rest.length === 2 && rest[0]!.length === 32 && isApplication(rest[1]!);
    case 'ssh-rsa':
      return rest.length === 2 && isRsa(rest[0]!, rest[1]!);
    case 'ecdsa-sha2-nistp256':
    case 'ecdsa-sha2-nistp384':
    case 'ecdsa-sha2-nistp521':
      return rest.length === 2 && isPoint(type.slice('ecdsa-sha2-'.length), rest[0]!, rest[1]!);
    case 'sk-ecdsa-sha2-nistp256@openssh.com':
      return rest.length === 3 && isPoint('nistp256', rest[0]!, rest[1]!) && isApplication(rest[2]!);
    default:
      return false;
  }
}

/** The length-prefixed strings of the wire format, or `null` when the lengths do not match the bytes. */
function readFields(blob: Buffer): Buffer[] | null {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    if (at + 4 > blob.length) return null;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return null;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

function isRsa(exponent: Buffer, modulus: Buffer): boolean {
  if (!isPositiveMpint(exponent) || !isPositiveMpint(modulus)) return false;
  const e = BigInt(`0x${exponent.toString('hex')}`);
  const bits = bitsOf(modulus);
  return e >= 3n && e % 2n === 1n && bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS && modulus.at(-1)! % 2 === 1;
}

const bitsOf = (number: Buffer): number => BigInt(`0x${number.toString('hex')}`).toString(2).length;

/** RFC 4251 section 5: two's complement, no unnecessary leading byte. */
function isPositiveMpint(bytes: Buffer): boolean {
  if (bytes.length === 0 || bytes[0]! >= 0x80) return false;
  return bytes[0] !== 0 || (bytes.length > 1 && bytes[1]! >= 0x80);
}

const CURVES: Record<string, { crv: string; bytes: number }> = {
  nistp256: { crv: 'P-256', bytes: 32 },
  nistp384: { crv: 'P-384', bytes: 48 },
  nistp521: { crv: 'P-521', bytes: 66 },
};

function isPoint(name: string, named: Buffer, point: Buffer): boolean {
  const { crv, bytes } = CURVES[name]!;
  if (named.toString('latin1') !== name || point[0] !== 4 || point.length !== 1 + 2 * bytes) return false;
  const [x, y] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)].map((half) => half.toString('base64url'));
  try {
    createPublicKey({ key: { kty: 'EC', crv, x, y }, format: 'jwk' });
    return true;
  } catch {
    // The only way in which OpenSSL says that a point is not on its curve.
    return false;
  }
}

function isApplication(name: Buffer): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(name.toString('latin1'));
}
