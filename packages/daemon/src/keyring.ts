import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type DaemonMessage, LINK_AUDIENCE } from '@stagi/contract/daemon.ts';
import { SignJWT } from 'jose';
import { syncFolder, writeDurably } from './durable.ts';
import { type Identity, loadKey } from './identity.ts';
import type { Paths } from './paths.ts';

/**
 * The key of this node and, while it is being replaced, the one that follows. The next one is on disk before the
 * platform hears of it, and takes the place of the old one when the platform has confirmed it: whichever of the two the
 * platform knows after a crash, this server holds it.
 */
export interface Keyring {
  /** The key to prove oneself with. */
  now(): KeyObject;
  /** The platform let this key in. */
  accepted(key: KeyObject): Promise<void>;
  /** The platform does not know this key: the next time the other one is tried, when there is one. */
  refused(key: KeyObject): void;
  /** Makes the next key, unless one is waiting already, and says so under the old one. */
  offer(identity: Identity, nonce: string): Promise<Extract<DaemonMessage, { type: 'rotate' }>>;
  /** The platform has taken the key with this public half over. */
  confirmed(x: string): Promise<void>;
}

export async function openKeyring(paths: Pick<Paths, 'key'>, first: KeyObject): Promise<Keyring> {
  const nextPath = `${paths.key}.next`;
  let current = first;
  let next = await loadKey(nextPath);
  let tryNext = false;

  async function promote(): Promise<void> {
    if (!next) return;
    await rename(nextPath, paths.key);
    await syncFolder(dirname(paths.key));
    current = next;
    next = null;
    tryNext = false;
  }
  return {
    now: () => (tryNext && next ? next : current),
    async accepted(key) {
      if (key === next) await promote();
    },
    refused(key) {
      tryNext = key !== next && next !== null;
    },
    async offer(identity, nonce) {
      if (!next) {
        next = generateKeyPairSync('ed25519').privateKey;
        await writeDurably(nextPath, next.export({ type: 'pkcs8', format: 'pem' }).toString(), 0o600);
      }
      const claims = { nonce, jwk: publicHalf(next) };
      return {
        type: 'rotate',
        proof: await sign(current, identity, claims),
        holder: await sign(next, identity, claims),
      };
    },
    async confirmed(x) {
      if (next && publicHalf(next).x === x) await promote();
    },
  };
}

function publicHalf(key: KeyObject): { kty: string; crv: string; x: string } {
  const { kty, crv, x } = createPublicKey(key).export({ format: 'jwk' });
  return { kty: kty!, crv: crv!, x: x! };
}

function sign(key: KeyObject, identity: Identity, claims: object): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'rotate+jwt' })
    .setAudience(LINK_AUDIENCE)
    .setSubject(identity.node)
    .setExpirationTime(Math.floor(Date.now() / 1000) + 60)
    .sign(key);
}
