import { createHash, createPublicKey, verify } from 'node:crypto';
import ssh2, { type PublicKeyAuthContext } from 'ssh2';
import type { Context } from '../context.ts';

/** What the client signed, in the wire format of public keys (RFC 4253 6.6). */
type Signed = Pick<PublicKeyAuthContext, 'key' | 'signature' | 'blob' | 'hashAlgo'>;

/** The people whose account holds this key now: one key may stand with several. */
export async function holdersOf(ctx: Pick<Context, 'db'>, key: Signed['key']): Promise<number[]> {
  const rows = await ctx.db
    .selectFrom('ssh_key')
    .innerJoin('app_user', 'app_user.id', 'ssh_key.user_id')
    .select('ssh_key.user_id')
    .where('ssh_key.fingerprint', '=', fingerprintOf(key.data))
    .where('app_user.disabled_at', 'is', null)
    .orderBy('ssh_key.user_id')
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** As `sshKeys` stores it. */
export const fingerprintOf = (data: Buffer): string => `SHA256:${sha256(data).toString('base64').replace('=', '')}`;

/** OpenSSH's format of a key: the type that it names itself, and base64. */
function publicKeyLine(data: Buffer): string {
  const length = data.length >= 4 ? data.readUInt32BE(0) : 0;
  return `${data.subarray(4, 4 + length).toString('latin1')} ${data.toString('base64')}`;
}

/** Whether the client has the private key. Without a signature it only asks whether the key would do. */
export function isSignedBy({ key, signature, blob, hashAlgo }: Signed): boolean {
  if (!signature || !blob) return false;
  if (key.algo.startsWith('sk-')) return isSignedBySecurityKey(key, signature, blob);
  const parsed = ssh2.utils.parseKey(publicKeyLine(key.data));
  if (parsed instanceof Error || parsed.type !== key.algo) return false;
  // RSA with SHA-1 can be forged.
  if (parsed.type === 'ssh-rsa' && hashAlgo === undefined) return false;
  return parsed.verify(blob, signature, hashAlgo) === true;
}

/** OpenSSH, PROTOCOL.u2f: what is signed names the application, and whether a person touched the key. */
function isSignedBySecurityKey({ algo, data }: Signed['key'], signature: Buffer, blob: Buffer): boolean {
  const fields = readStrings(data);
  const application = fields?.at(-1);
  if (!fields || !application || fields[0]?.toString('latin1') !== algo || signature.length < 5) return false;
  const [flags, counter] = [signature.subarray(-5, -4), signature.subarray(-4)];
  const message = Buffer.concat([sha256(application), flags, counter, sha256(blob)]);
  const USER_PRESENT = 1;
  if ((flags[0]! & USER_PRESENT) === 0) return false;
  const bare = signature.subarray(0, -5);
  if (algo === 'sk-ssh-ed25519@openssh.com' && fields.length === 3) {
    const x = fields[1]!.toString('base64url');
    return verify(null, message, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), bare);
  }
  if (algo === 'sk-ecdsa-sha2-nistp256@openssh.com' && fields.length === 4) {
    const point = fields[2]!;
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
    const [r, s, ...more] = (readStrings(bare) ?? []).map(fixed32);
    if (point.length !== 65 || !r || !s || more.length > 0) return false;
    const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
    return verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, Buffer.concat([r, s]));
  }
  return false;
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

/** An mpint as 32 bytes; null when it does not fit. */
function fixed32(number: Buffer): Buffer | null {
  const bare = number[0] === 0 ? number.subarray(1) : number;
  return bare.length > 32 ? null : Buffer.concat([Buffer.alloc(32 - bare.length), bare]);
}

/** The length-prefixed strings of the wire format; null when the lengths do not match the bytes. */
function readStrings(bytes: Buffer): Buffer[] | null {
  const strings: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) return null;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return null;
    strings.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return strings;
}
