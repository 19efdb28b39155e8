import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PublicError } from '../http/errors.ts';
import { generateKeyPair } from './generate.ts';
import { parsePublicKey } from './publicKey.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stagi-ssh-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A key made by OpenSSH itself. */
function byOpenSsh(type: string, bits?: number): { line: string; fingerprint: string; privateKey: string } {
  const file = join(folder, `${type}-${bits ?? ''}-${Math.random()}`);
  execFileSync('ssh-keygen', [
    '-q',
    '-t',
    type,
    ...(bits ? ['-b', String(bits)] : []),
    '-N',
    '',
    '-C',
    'me@home',
    '-f',
    file,
  ]);
  const fingerprint = execFileSync('ssh-keygen', ['-l', '-f', `${file}.pub`], { encoding: 'utf8' }).split(' ')[1]!;
  return { line: readFileSync(`${file}.pub`, 'utf8'), fingerprint, privateKey: readFileSync(file, 'utf8') };
}

const string = (text: string | Buffer): Buffer => {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
const line = (type: string, ...fields: (string | Buffer)[]): string =>
  `${type} ${Buffer.concat([string(type), ...fields.map(string)]).toString('base64')}`;
const ed25519 = (): string => line('ssh-ed25519', Buffer.alloc(32, 7));

function pointOf(curve: 'P-256'): Buffer {
  const { x, y } = generateKeyPairSync('ec', { namedCurve: curve }).publicKey.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]);
}

describe('a public key', () => {
  it.each([
    ['ed25519', undefined],
    ['rsa', 2048],
    ['rsa', 4096],
    ['ecdsa', 256],
    ['ecdsa', 384],
    ['ecdsa', 521],
  ] as const)('made by ssh-keygen -t %s -b %s is read, with the fingerprint that OpenSSH shows', (type, bits) => {
    const made = byOpenSsh(type, bits);
    const key = parsePublicKey(made.line);
    expect(key.fingerprint).toBe(made.fingerprint);
    expect(made.line.startsWith(key.line)).toBe(true);
    expect(key.comment).toBe('me@home');
  });

  it.each([
    ['sk-ssh-ed25519@openssh.com', () => line('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 1), 'ssh:')],
    [
      'sk-ecdsa-sha2-nistp256@openssh.com',
      () => line('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', pointOf('P-256'), 'ssh:'),
    ],
  ])('of a security key (%s) is read', (type, make) => {
    expect(parsePublicKey(make()).type).toBe(type);
  });

  it.each<[string, () => string]>([
    ['nothing of the kind', () => 'hello'],
    ['a type without a key', () => 'ssh-ed25519'],
    ['base64 that is none', () => 'ssh-ed25519 !!!!'],
    ['base64 with rubbish in its last bits', () => ed25519().replace(/.$/, (last) => (last === '=' ? 'A' : '='))],
    [
      'a cut key',
      () => `ssh-ed25519 ${Buffer.from(ed25519().split(' ')[1]!, 'base64').subarray(0, -4).toString('base64')}`,
    ],
    ['a key with bytes behind it', () => line('ssh-ed25519', Buffer.alloc(32, 7), 'more')],
    ['another type inside', () => line('ssh-rsa', Buffer.alloc(32, 7)).replace('ssh-rsa', 'ssh-ed25519')],
    ['31 bytes of ed25519', () => line('ssh-ed25519', Buffer.alloc(31, 7))],
    ['RSA of 1024 bits', () => byOpenSsh('rsa', 1024).line],
    ['RSA with the exponent 1', () => line('ssh-rsa', Buffer.from([1]), Buffer.from(`00${'ff'.repeat(256)}`, 'hex'))],
    [
      'RSA with a negative modulus',
      () => line('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.from('ff'.repeat(256), 'hex')),
    ],
    [
      'RSA with a padded modulus',
      () => line('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.from(`0000${'ff'.repeat(256)}`, 'hex')),
    ],
    ['DSA', () => line('ssh-dss', Buffer.alloc(128, 3), Buffer.alloc(20, 3), Buffer.alloc(1, 3), Buffer.alloc(1, 3))],
    [
      'a point beside its curve',
      () => line('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 9)])),
    ],
    ['a curve that is not the one named', () => line('ecdsa-sha2-nistp384', 'nistp256', pointOf('P-256'))],
    ['options before it', () => `command="sh" ${ed25519()}`],
    ['options without quotes', () => `no-pty ${ed25519()}`],
    ['a certificate authority', () => `cert-authority ${ed25519()}`],
    ['a certificate', () => ed25519().replace('ssh-ed25519', 'ssh-ed25519-cert-v01@openssh.com')],
    ['two lines', () => `${ed25519()}\n${ed25519()}`],
    ['a second line in the comment', () => `${ed25519()} me\ncommand="sh" x`],
    ['a carriage return in the comment', () => `${ed25519()} me\rx`],
    ['a line separator in the comment', () => `${ed25519()} me\u2028x`],
    ['a NUL in the comment', () => `${ed25519()} me\0x`],
    ['a private key', () => byOpenSsh('ed25519').privateKey],
    [
      'a PEM public key',
      () => generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    ],
    [
      'an RFC 4716 key',
      () => `---- BEGIN SSH2 PUBLIC KEY ----\n${ed25519().split(' ')[1]}\n---- END SSH2 PUBLIC KEY ----`,
    ],
  ])('is refused when it is %s', (_, make) => {
    const refusal = () => parsePublicKey(make());
    expect(refusal).toThrow(PublicError);
    expect(refusal).toThrow('Invalid SSH key');
  });

  it('keeps a comment of one line, whatever it says', () => {
    expect(parsePublicKey(`  ${ed25519()}\t  Zoë’s "laptop" #1 \n`).comment).toBe('Zoë’s "laptop" #1');
    expect(parsePublicKey(ed25519()).comment).toBeNull();
  });
});

describe('a generated key pair', () => {
  it.each(['ed25519', 'rsa'] as const)('of type %s is what ssh-keygen reads', async (type) => {
    const { privateKey, publicKey } = await generateKeyPair(type, 'my laptop\n"; rm -rf /');
    const file = join(folder, `generated-${type}`);
    writeFileSync(file, privateKey, { mode: 0o600 });
    const derived = execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' });
    expect(derived.split(' ', 2)).toEqual(publicKey.split(' ', 2));
    expect(parsePublicKey(publicKey)).toMatchObject({ comment: 'my-laptop-rm--rf' });
    const described = execFileSync('ssh-keygen', ['-l', '-f', file], { encoding: 'utf8' });
    expect(described).toMatch(type === 'rsa' ? /^3072 .*\(RSA\)/ : /^256 .*\(ED25519\)/);
  });

  it('is whole whatever bytes its key begins with', async () => {
    const made = await Promise.all(Array.from({ length: 1_000 }, () => generateKeyPair('ed25519', 'x')));
    for (const { publicKey } of made) parsePublicKey(publicKey);
  });
});
