import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type DaemonMessage, LINK_AUDIENCE } from '@stagi/contract/daemon.ts';
import { SignJWT } from 'jose';
import { syncFolder, writeFileAtomically } from './atomicFile.ts';
import { exportKey, type Identity, loadKey, otherKeys } from './identity.ts';
import type { Paths } from './paths.ts';

/**
 * The key of this node and, during a rotation, the next one. The next key is on disk before it is offered, and replaces
 * the old key when the platform has confirmed it. So after a crash this server holds the key that the platform knows,
 * whichever of the two that is. The former key is kept too: a platform whose database was restored from a backup may know
 * only that one.
 */
export interface Keyring {
  /** The key to authenticate with. */
  current(): KeyObject;
  /** The platform has accepted this key. */
  accepted(key: KeyObject): Promise<void>;
  /** The platform does not know this key: another one, if any, is tried next. */
  rejected(key: KeyObject): void;
  /** Makes the next key, unless there is one already, and returns the message that offers it, signed by both. */
  startRotation(identity: Identity, nonce: string): Promise<Extract<DaemonMessage, { type: 'rotate' }>>;
  /** The platform has registered the key with this public half. */
  finishRotation(x: string): Promise<void>;
}

export async function openKeyring(paths: Pick<Paths, 'key'>, first: KeyObject): Promise<Keyring> {
  const { next: nextPath, former: formerPath } = otherKeys(paths);
  let current = first;
  let next = await loadKey(nextPath);
  let former = await loadKey(formerPath);
  let tried: KeyObject | null = null;

  async function promote(): Promise<void> {
    if (!next) return;
    await writeFileAtomically(formerPath, exportKey(current), 0o600);
    await rename(nextPath, paths.key);
    await syncFolder(dirname(paths.key));
    former = current;
    current = next;
    next = null;
    tried = null;
  }
  return {
    current: () => tried ?? current,
    async accepted(key) {
      if (key === next) await promote();
      // In memory only: the platform asks for a rotation, which replaces both.
      else if (key === former) [current, former] = [key, current];
      tried = null;
    },
    rejected(key) {
      const keys = [current, next, former].filter((one) => one !== null);
      tried = keys[(keys.indexOf(key) + 1) % keys.length]!;
    },
    async startRotation(identity, nonce) {
      if (!next) {
        next = generateKeyPairSync('ed25519').privateKey;
        await writeFileAtomically(nextPath, exportKey(next), 0o600);
      }
      const claims = { nonce, jwk: publicHalf(next) };
      return {
        type: 'rotate',
        proof: await sign(current, identity, claims),
        holder: await sign(next, identity, claims),
      };
    },
    async finishRotation(x) {
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
