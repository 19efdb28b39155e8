import { generateKeyPair as generate, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { SshKeyType } from '@stagi/contract/sshKeys.ts';
import type { z } from 'zod';

const RSA_BITS = 3072;
const makePair = promisify(generate);

/**
 * A key pair in OpenSSH's own formats, generated off the main thread. Written here because the encoder of the `ssh2`
 * package (1.17) drops leading zero bytes: one in 256 of its ed25519 keys is broken.
 */
export async function generateKeyPair(
  type: z.infer<typeof SshKeyType>,
  title: string,
): Promise<{ privateKey: string; publicKey: string }> {
  const jwk = await privateJwk(type);
  const { name, publicFields, privateFields } = type === 'rsa' ? rsaFields(jwk) : ed25519Fields(jwk);
  const blob = Buffer.concat([name, ...publicFields].map(string));
  const comment = commentOf(title);
  return {
    privateKey: privateFile(blob, Buffer.concat([name, ...privateFields].map(string)), comment),
    publicKey: `${name} ${blob.toString('base64')} ${comment}`,
  };
}

async function privateJwk(type: z.infer<typeof SshKeyType>): Promise<JsonWebKey> {
  const { privateKey } =
    type === 'rsa' ? await makePair('rsa', { modulusLength: RSA_BITS }) : await makePair('ed25519');
  return privateKey.export({ format: 'jwk' });
}

interface Fields {
  name: Buffer;
  publicFields: Buffer[];
  privateFields: Buffer[];
}

/** RFC 8709 section 4; the private half is the seed followed by the public key. */
function ed25519Fields(jwk: JsonWebKey): Fields {
  const [seed, point] = [bytes(jwk.d), bytes(jwk.x)];
  return {
    name: Buffer.from('ssh-ed25519'),
    publicFields: [point],
    privateFields: [point, Buffer.concat([seed, point])],
  };
}

/** RFC 4253 section 6.6: e before n in public, n before e in private. */
function rsaFields(jwk: JsonWebKey): Fields {
  const [n, e, d, qi, p, q] = [jwk.n, jwk.e, jwk.d, jwk.qi, jwk.p, jwk.q].map((part) => mpint(bytes(part)));
  return { name: Buffer.from('ssh-rsa'), publicFields: [e!, n!], privateFields: [n!, e!, d!, qi!, p!, q!] };
}

/** OpenSSH's PROTOCOL.key, without a passphrase. */
function privateFile(publicBlob: Buffer, privateFields: Buffer, comment: string): string {
  const check = randomBytes(4);
  const content = Buffer.concat([check, check, privateFields, string(Buffer.from(comment))]);
  const padding = Buffer.from(Array.from({ length: (8 - (content.length % 8)) % 8 }, (_, n) => n + 1));
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...['none', 'none', ''].map((word) => string(Buffer.from(word))),
    uint32(1),
    string(publicBlob),
    string(Buffer.concat([content, padding])),
  ]);
  const lines = file.toString('base64').match(/.{1,70}/g) ?? [];
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

/** RFC 4251 section 5. */
function string(content: Buffer): Buffer {
  return Buffer.concat([uint32(content.length), content]);
}

function uint32(value: number): Buffer {
  const four = Buffer.alloc(4);
  four.writeUInt32BE(value);
  return four;
}

/** A positive integer without leading zeros, but with one where the first bit would make it negative. */
function mpint(magnitude: Buffer): Buffer {
  const first = magnitude.findIndex((byte) => byte !== 0);
  const bare = magnitude.subarray(first < 0 ? magnitude.length : first);
  return bare[0] !== undefined && bare[0] >= 0x80 ? Buffer.concat([Buffer.alloc(1), bare]) : bare;
}

function bytes(part: string | undefined): Buffer {
  if (part === undefined) throw new Error('the key has a part too few');
  return Buffer.from(part, 'base64url');
}

/** A title may have line breaks; a comment must be one line. */
function commentOf(title: string): string {
  const plain = title
    .replace(/[^A-Za-z0-9@._-]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
  return plain || 'stagi';
}
