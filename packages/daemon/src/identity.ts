import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { ENROL_AUDIENCE, EnrolmentClaims, EnrolRequest, EnrolResponse, LINK_AUDIENCE } from '@stagi/contract/daemon.ts';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { z } from 'zod';
import { readFileIfExists, writeFileAtomically } from './atomicFile.ts';
import { errorText } from './log.ts';
import type { Paths } from './paths.ts';

/** The identity of this server on the platform; `jti` is the id of the enrolment file that it came from. */
const Identity = z.object({
  node: z.string(),
  origin: z.url(),
  commandKey: EnrolmentClaims.shape.commandKey,
  kind: EnrolmentClaims.shape.kind,
  jti: z.string(),
});
export type Identity = z.infer<typeof Identity>;

export class EnrolmentError extends Error {}
/** The platform has refused the enrolment: the new key is useless. */
class RefusedError extends EnrolmentError {}

/**
 * Enrols this server: registers a key that is made here and never leaves the server. Idempotent: the key is stored before
 * the request is sent, so a run that lost the answer asks again with the same key. Returns at once when this file was
 * used already.
 */
export async function enrol(token: string, paths: Paths): Promise<Identity> {
  const claims = parseEnrolmentFile(token);
  const known = await loadIdentity(paths);
  if (known && known.jti === claims.jti) return known;
  if (claims.exp * 1000 < Date.now()) throw new EnrolmentError('This enrolment file has expired: make a new one');

  const draft = `${paths.key}.enrolling-${claims.jti.replaceAll(/[^\w-]/g, '_')}`;
  await mkdir(paths.config, { recursive: true, mode: 0o700 });
  const key = (await loadKey(draft)) ?? (await makeKey(draft));
  crashPoint('daemon.enrol.keyStored');
  const node = await exchange(token, claims, key).catch(async (error: unknown) => {
    if (error instanceof RefusedError) await rm(draft);
    throw error;
  });
  crashPoint('daemon.enrol.answered');

  const identity = {
    node,
    origin: originOf(claims),
    commandKey: claims.commandKey,
    kind: claims.kind,
    jti: claims.jti,
  };
  // A rotation of the previous key that was not completed.
  await forgetOtherKeys(paths);
  await writeFileAtomically(paths.key, exportKey(key), 0o600);
  await writeFileAtomically(paths.identity, `${JSON.stringify(identity, null, 2)}\n`, 0o600);
  await rm(draft);
  return identity;
}

export async function loadIdentity(paths: Paths): Promise<Identity | null> {
  const text = await readFileIfExists(paths.identity);
  return text === null ? null : Identity.parse(JSON.parse(text));
}

/** The private key in a file, or null when the file does not exist. Restores the file's mode 0600. */
export async function loadKey(path: string): Promise<KeyObject | null> {
  const pem = await readFileIfExists(path);
  if (pem === null) return null;
  await chmod(path, 0o600);
  return createPrivateKey(pem);
}

/** Beside the key of this node: the one that is offered to the platform, and the one before. */
export function otherKeys({ key }: Pick<Paths, 'key'>): { next: string; former: string } {
  return { next: `${key}.next`, former: `${key}.former` };
}

async function forgetOtherKeys(paths: Paths): Promise<void> {
  for (const path of Object.values(otherKeys(paths))) await rm(path, { force: true });
}

/** Deletes the keys and the identity: this server can no longer authenticate. */
export async function forgetIdentity(paths: Paths): Promise<void> {
  await rm(paths.key, { force: true });
  await forgetOtherKeys(paths);
  await rm(paths.identity, { force: true });
}

/** The proof that answers the platform's challenge: a JWS by the node's key, valid for a minute. */
export async function answerChallenge(identity: Identity, key: KeyObject, nonce: string): Promise<string> {
  return new SignJWT({ nonce })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setAudience(LINK_AUDIENCE)
    .setSubject(identity.node)
    .setExpirationTime(Math.floor(Date.now() / 1000) + 60)
    .sign(key);
}

/**
 * Reads the enrolment file without verifying it: the administrator vouches for it. It pins the platform's address and the
 * key that signs everything later.
 */
function parseEnrolmentFile(token: string): EnrolmentClaims {
  try {
    if (decodeProtectedHeader(token).typ !== 'enrol+jwt') throw new EnrolmentError('not an enrolment file');
    return EnrolmentClaims.parse(decodeJwt(token));
  } catch (error) {
    throw new EnrolmentError('The enrolment file is damaged or is none of ours', { cause: error });
  }
}

async function exchange(token: string, claims: EnrolmentClaims, key: KeyObject): Promise<string> {
  const jwk = createPublicKey(key).export({ format: 'jwk' });
  const proof = await new SignJWT({ jti: claims.jti })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setAudience(ENROL_AUDIENCE)
    .sign(key);
  const request = EnrolRequest.parse({ token, publicKey: { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, proof });
  const url = `${originOf(claims)}/daemon-api/enrol`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    redirect: 'error',
    signal: AbortSignal.timeout(30_000),
  }).catch((error: unknown) => {
    throw new EnrolmentError(`The platform at ${originOf(claims)} cannot be reached: ${errorText(error)}`);
  });
  const body: unknown = await response.json().catch(() => null);
  const done = EnrolResponse.safeParse(body);
  if (response.ok && done.success) return done.data.node;
  const refusal = z.object({ message: z.string() }).safeParse(body);
  if (response.ok || (response.status >= 400 && response.status < 500 && refusal.success))
    throw new RefusedError(refusal.data?.message ?? 'The platform gave an answer that is none');
  throw new EnrolmentError(`The platform answered ${response.status}: ${refusal.data?.message ?? 'no reason given'}`);
}

function originOf(claims: EnrolmentClaims): string {
  return new URL(claims.origin).origin;
}

async function makeKey(path: string): Promise<KeyObject> {
  const key = generateKeyPairSync('ed25519').privateKey;
  await writeFileAtomically(path, exportKey(key), 0o600);
  return key;
}

export function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
