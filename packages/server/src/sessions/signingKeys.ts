import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Ed25519PublicJwk } from '@stagi/contract/daemon.ts';
import type { Db } from '../db/schema.ts';
import type { SecretBox } from '../secrets/secretBox.ts';

export interface SigningKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
  publicJwk: Ed25519PublicJwk;
}

export interface SigningKeys {
  /** Signs access tokens. */
  access: SigningKey;
  /** Signs enrolment files, desired states and commands; daemons pin its public half. */
  command: SigningKey;
}

/** The platform's Ed25519 keys, created once and stored encrypted in the database, so that every node has the same. */
export async function loadSigningKeys(db: Db, secrets: SecretBox): Promise<SigningKeys> {
  const [access, command] = await Promise.all([loadKey(db, secrets, 'access'), loadKey(db, secrets, 'command')]);
  return { access, command };
}

async function loadKey(db: Db, secrets: SecretBox, purpose: string): Promise<SigningKey> {
  const place = `signing_key|${purpose}`;
  const fresh = generateKeyPairSync('ed25519');
  await db
    .insertInto('signing_key')
    .values({
      purpose,
      public_jwk: JSON.stringify(publicJwk(fresh.publicKey)),
      private_sealed: secrets.seal(fresh.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), place),
    })
    .onConflict((conflict) => conflict.column('purpose').doNothing())
    .execute();
  const row = await db.selectFrom('signing_key').selectAll().where('purpose', '=', purpose).executeTakeFirstOrThrow();
  const privateKey = createPrivateKey(secrets.open(row.private_sealed, place));
  const publicKey = createPublicKey(privateKey);
  return { privateKey, publicKey, publicJwk: publicJwk(publicKey) };
}

function publicJwk(key: KeyObject): Ed25519PublicJwk {
  const jwk = key.export({ format: 'jwk' });
  if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519' || !jwk.x) throw new Error('not an Ed25519 key');
  return { kty: 'OKP', crv: 'Ed25519', x: jwk.x };
}
