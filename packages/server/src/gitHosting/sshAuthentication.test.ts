import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { isSignedBy } from './sshAuthentication.ts';
import { addSshKey, aHostedProject, aMachine, type HostedProject, type Machine } from './testing/gitClient.ts';

/** A key on a hardware token, as OpenSSH's PROTOCOL.u2f describes it. */
interface SecurityKey {
  algo: string;
  /** The public key in the wire format. */
  data: Buffer;
  /** What the token answers to a message: the bare signature, flags and counter. */
  sign(blob: Buffer, options?: Signing): { bare: Buffer; tail: Buffer };
}

interface Signing {
  application?: string;
  flags?: number;
  counter?: number;
}

const TOUCHED = 1;
const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const wire = (...fields: (Buffer | string)[]): Buffer =>
  Buffer.concat(fields.flatMap((field) => [uint32(Buffer.from(field).length), Buffer.from(field)]));

/** RFC 4251, section 5: no unnecessary zeros, and one where the highest bit would be a sign. */
function mpint(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const bare = bytes.subarray(first);
  return bare[0]! >= 0x80 ? Buffer.concat([Buffer.alloc(1), bare]) : bare;
}

function signing(pack: (message: Buffer) => Buffer): SecurityKey['sign'] {
  return (blob, { application = 'ssh:', flags = TOUCHED, counter = 7 } = {}) => {
    const tail = Buffer.concat([Buffer.of(flags), uint32(counter)]);
    return { bare: pack(Buffer.concat([sha256(application), tail, sha256(blob)])), tail };
  };
}

const KINDS: Record<string, () => SecurityKey> = {
  'sk-ssh-ed25519@openssh.com': () => {
    const algo = 'sk-ssh-ed25519@openssh.com';
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const point = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
    return {
      algo,
      data: wire(algo, point, 'ssh:'),
      sign: signing((message) => sign(null, message, privateKey)),
    };
  },
  'sk-ecdsa-sha2-nistp256@openssh.com': () => {
    const algo = 'sk-ecdsa-sha2-nistp256@openssh.com';
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x, y } = publicKey.export({ format: 'jwk' });
    const point = Buffer.concat([Buffer.of(4), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]);
    return {
      algo,
      data: wire(algo, 'nistp256', point, 'ssh:'),
      sign: signing((message) => {
        const both = sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' });
        return wire(mpint(both.subarray(0, 32)), mpint(both.subarray(32)));
      }),
    };
  },
};

describe.each(Object.entries(KINDS))('a login with %s', (_algo, aKey) => {
  const blob = Buffer.from('what the client signs');
  const key = aKey();
  const { algo, data } = key;
  const login = (signature: Buffer, signed = blob, by: Pick<SecurityKey, 'algo' | 'data'> = { algo, data }): boolean =>
    isSignedBy({ key: by, signature, blob: signed, hashAlgo: undefined });
  const signed = (options?: Signing, by = key): Buffer => {
    const { bare, tail } = by.sign(blob, options);
    return Buffer.concat([bare, tail]);
  };

  it('is accepted whatever the counter and the further flags are', () => {
    // Numbers of an ECDSA signature are shorter or longer by chance.
    for (let counter = 0; counter < 200; counter++) expect(login(signed({ counter }))).toBe(true);
    const VERIFIED = 4;
    expect(login(signed({ flags: TOUCHED | VERIFIED, counter: 2 ** 32 - 1 }))).toBe(true);
  });

  const right = signed();
  const changed = (at: number): Buffer => {
    const bytes = Buffer.from(right);
    bytes[bytes.length + at]! ^= 1;
    return bytes;
  };
  const REFUSED: Record<string, () => boolean> = {
    'nobody touched the key': () => login(signed({ flags: 0 })),
    'only other flags are set': () => login(signed({ flags: 4 })),
    'the flag of a touch was added later': () =>
      login(Buffer.concat([key.sign(blob, { flags: 0 }).bare, right.subarray(-5)])),
    'it was made for another application': () => login(signed({ application: 'https://example.com' })),
    'the key names another application': () =>
      login(right, blob, { algo, data: Buffer.concat([data.subarray(0, -8), wire('ssh.')]) }),
    'its counter was changed': () => login(changed(-1)),
    'its flags were changed': () => {
      const bytes = changed(-5);
      bytes[bytes.length - 5] = TOUCHED | 4;
      return login(bytes);
    },
    'it was changed': () => login(changed(-6)),
    'it is of another message': () => login(right, Buffer.from('what another client signs')),
    'it is of another key': () => login(signed({}, aKey())),
    'the key is said to be of the other type': () =>
      login(right, blob, { algo: Object.keys(KINDS).find((other) => other !== algo)!, data }),
    'the key is said to be no security key': () => login(right, blob, { algo: 'ssh-ed25519', data }),
    'the key was truncated': () => login(right, blob, { algo, data: data.subarray(0, -1) }),
    'the key has trailing bytes': () => login(right, blob, { algo, data: Buffer.concat([data, Buffer.alloc(1)]) }),
    'the key has another field': () => login(right, blob, { algo, data: Buffer.concat([data, wire('ssh:')]) }),
    'it is empty': () => login(Buffer.alloc(0)),
    'flags and counter are missing': () => login(key.sign(blob).bare),
  };
  it.each(Object.entries(REFUSED))('is refused when %s', (_why, tried) => {
    expect(login(right)).toBe(true);
    expect(tried()).toBe(false);
  });

  it('is refused at every length but its own', () => {
    for (let length = 0; length < right.length; length++)
      expect([length, login(right.subarray(0, length))]).toEqual([length, false]);
    const { bare, tail } = key.sign(blob);
    for (const more of [Buffer.alloc(1), Buffer.alloc(5, 1), wire(Buffer.alloc(32, 1))]) {
      expect(login(Buffer.concat([bare, tail, more]))).toBe(false);
      expect(login(Buffer.concat([bare, more, tail]))).toBe(false);
      expect(login(Buffer.concat([more, bare, tail]))).toBe(false);
    }
  });
});

it('refuses an ECDSA signature with numbers of more than 32 bytes', () => {
  const key = KINDS['sk-ecdsa-sha2-nistp256@openssh.com']!();
  const blob = Buffer.from('what the client signs');
  const { bare, tail } = key.sign(blob);
  const length = bare.readUInt32BE(0);
  const [r, s] = [bare.subarray(4, 4 + length), bare.subarray(8 + length)];
  const padded = (by: Buffer): boolean =>
    isSignedBy({
      key,
      signature: Buffer.concat([wire(Buffer.concat([by, r]), s), tail]),
      blob,
      hashAlgo: undefined,
    });
  expect(padded(Buffer.alloc(0))).toBe(true);
  expect(padded(Buffer.alloc(32, 1))).toBe(false);
});

/** OpenSSH's client takes the signature from an agent; this one has a token. */
function startAgent(path: string, key: SecurityKey): Server {
  const [IDENTITIES, SIGN, FAILURE] = [11, 13, 5];
  const answerTo = (message: Buffer): Buffer => {
    if (message[0] === IDENTITIES) return Buffer.concat([Buffer.of(12), uint32(1), wire(key.data, 'token')]);
    if (message[0] !== SIGN) return Buffer.of(FAILURE);
    const at = 5 + message.readUInt32BE(1);
    const { bare, tail } = key.sign(message.subarray(at + 4, at + 4 + message.readUInt32BE(at)));
    return Buffer.concat([Buffer.of(14), wire(Buffer.concat([wire(key.algo, bare), tail]))]);
  };
  const server = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) {
        const length = received.readUInt32BE(0);
        socket.write(wire(answerTo(received.subarray(4, 4 + length))));
        received = received.subarray(4 + length);
      }
    });
  });
  server.listen(path);
  return server;
}

describe('OpenSSH with a security key', () => {
  let app: TestApp;
  let ada: Person;
  let machine: Machine;
  let project: HostedProject;
  beforeAll(async () => {
    app = await startTestApp({}, { role: 'api' });
    ada = await app.signUp('Ada');
    machine = aMachine();
    project = await aHostedProject(app, ada);
  });
  afterAll(async () => {
    machine?.remove();
    await app?.close();
  });

  it.each(Object.entries(KINDS))('logs in with %s once its owner has added it', async (algo, aKey) => {
    const key = aKey();
    const socket = join(machine.home, `${algo}.sock`);
    const agent = startAgent(socket, key);
    const command = [
      'ssh -F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR -o IdentityFile=none',
      `-o UserKnownHostsFile=${machine.home}/known_hosts -o IdentityAgent=${socket}`,
    ].join(' ');
    const list = () => machine.git(['ls-remote', project.ssh], { env: { GIT_SSH_COMMAND: command } });
    try {
      expect((await list()).stderr).toContain('Permission denied (publickey)');
      await addSshKey(ada, `${algo} ${key.data.toString('base64')}`);
      expect(await list()).toEqual({ code: 0, stdout: '', stderr: '' });
    } finally {
      agent.close();
    }
  });
});
