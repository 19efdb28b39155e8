import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LINK_AUDIENCE } from '@stagi/contract/daemon.ts';
import { decodeJwt, importJWK, type JWK, jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileAtomically } from './atomicFile.ts';
import { type Identity, loadKey } from './identity.ts';
import { type Keyring, openKeyring } from './keyring.ts';

let folder: string;
let first: KeyObject;
const path = () => join(folder, 'node.key');
const identity = { node: '7' } as Identity;
const publicOf = (key: KeyObject) => key.export({ format: 'jwk' }).x;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stagid-keys-'));
  first = generateKeyPairSync('ed25519').privateKey;
  await writeFileAtomically(path(), first.export({ type: 'pkcs8', format: 'pem' }).toString(), 0o600);
});
afterEach(() => rm(folder, { recursive: true }));

const ring = async (): Promise<Keyring> => openKeyring({ key: path() }, (await loadKey(path()))!);
const offered = async (keys: Keyring) => (decodeJwt((await keys.startRotation(identity, 'nonce')).proof).jwk as JWK).x;

describe('the rotation of the node key', () => {
  it('takes effect when the platform has confirmed it, also on disk', async () => {
    const keys = await ring();
    expect(publicOf(keys.current())).toBe(publicOf(first));
    const next = await offered(keys);
    expect(publicOf(keys.current())).toBe(publicOf(first));
    await keys.finishRotation('another');
    expect(publicOf(keys.current())).toBe(publicOf(first));
    await keys.finishRotation(next!);
    expect(publicOf(keys.current())).toBe(next);
    expect(publicOf((await ring()).current())).toBe(next);
    expect((await readdir(folder)).toSorted()).toEqual(['node.key', 'node.key.former']);
    expect((await stat(path())).mode & 0o777).toBe(0o600);
  });

  it('offers a key with signatures of the old and of the new one', async () => {
    const keys = await ring();
    const { proof, holder } = await keys.startRotation(identity, 'nonce');
    const jwk = decodeJwt(proof).jwk as JWK;
    const options = { audience: LINK_AUDIENCE, subject: '7', typ: 'rotate+jwt' };
    const old = await importJWK({ kty: 'OKP', crv: 'Ed25519', x: publicOf(first)! }, 'EdDSA');
    expect((await jwtVerify(proof, old, options)).payload).toMatchObject({ nonce: 'nonce', jwk });
    expect((await jwtVerify(holder, await importJWK(jwk, 'EdDSA'), options)).payload).toMatchObject({ jwk });
    expect(jwk).not.toHaveProperty('d');
  });

  it('survives a crash that lost the answer, whichever key the platform knows', async () => {
    const next = await offered(await ring());
    const after = await ring();
    expect(await offered(after)).toBe(next);
    // The platform knows only the new key.
    after.rejected(after.current());
    expect(publicOf(after.current())).toBe(next);
    await after.accepted(after.current());
    expect(publicOf((await ring()).current())).toBe(next);
    // When the platform knows none, all are tried in turn.
    const last = await ring();
    const third = await offered(last);
    const tried = [0, 1, 2, 3].map(() => {
      const key = last.current();
      last.rejected(key);
      return publicOf(key);
    });
    expect(tried).toEqual([next, third, publicOf(first), next]);
  });

  it('begins anew at the former key when the platform was restored from a backup of before', async () => {
    const rotated = await ring();
    const second = await offered(rotated);
    await rotated.finishRotation(second!);
    for (const keys of [rotated, await ring()]) {
      expect(publicOf(keys.current())).toBe(second);
      keys.rejected(keys.current());
      expect(publicOf(keys.current())).toBe(publicOf(first));
      await keys.accepted(keys.current());
      // For the renewal of the lease.
      expect(publicOf(keys.current())).toBe(publicOf(first));
    }
    const keys = await ring();
    keys.rejected(keys.current());
    await keys.accepted(keys.current());
    const { proof } = await keys.startRotation(identity, 'nonce');
    const old = await importJWK({ kty: 'OKP', crv: 'Ed25519', x: publicOf(first)! }, 'EdDSA');
    const third = ((await jwtVerify(proof, old)).payload.jwk as JWK).x;
    await keys.finishRotation(third!);
    expect(publicOf((await ring()).current())).toBe(third);
    expect(publicOf((await loadKey(`${path()}.former`))!)).toBe(publicOf(first));
  });
});
