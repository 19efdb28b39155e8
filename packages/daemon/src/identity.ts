import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { ENROL_AUDIENCE, EnrolmentClaims, EnrolRequest, EnrolResponse, LINK_AUDIENCE } from '@stagi/contract/daemon.ts';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { z } from 'zod';
import { readIfThere, writeDurably } from './durable.ts';
import { reasonOf } from './log.ts';
import type { Paths } from './paths.ts';

/** Who this server is to the platform; `jti` tells which enrolment file made it so. */
const Identity = z.object({
  node: z.string(),
  origin: z.url(),
  commandKey: EnrolmentClaims.shape.commandKey,
  kind: EnrolmentClaims.shape.kind,
  jti: z.string(),
});
export type Identity = z.infer<typeof Identity>;

export class EnrolmentError extends Error {}
/** The platform has answered no: the key that was offered is of no use. */
class RefusedError extends EnrolmentError {}

/**
 * Exchanges the enrolment file for a key that is made here and never leaves. The key is stored before it is shown, so
 * that a run whose answer was lost asks again with the same one. Returns at once when this file was exchanged already.
 */
export async function enrol(token: string, paths: Paths): Promise<Identity> {
  const claims = readToken(token);
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
  // The one that was to follow the key of before.
  await rm(`${paths.key}.next`, { force: true });
  await writeDurably(paths.key, exportKey(key), 0o600);
  await writeDurably(paths.identity, `${JSON.stringify(identity, null, 2)}\n`, 0o600);
  await rm(draft);
  return identity;
}

export async function loadIdentity(paths: Paths): Promise<Identity | null> {
  const text = await readIfThere(paths.identity);
  return text === null ? null : Identity.parse(JSON.parse(text));
}

/** The private key in a file, or null when there is none. Tightens the file's mode when somebody loosened it. */
export async function loadKey(path: string): Promise<KeyObject | null> {
  const pem = await readIfThere(path);
  if (pem === null) return null;
  await chmod(path, 0o600);
  return createPrivateKey(pem);
}

/** After this the server is a stranger to the platform. */
export async function forgetIdentity(paths: Paths): Promise<void> {
  await rm(paths.key, { force: true });
  await rm(`${paths.key}.next`, { force: true });
  await rm(paths.identity, { force: true });
}

/** Answers the platform's challenge: a JWS by the node's key, good for a minute. */
export async function answerChallenge(identity: Identity, key: KeyObject, nonce: string): Promise<string> {
  return new SignJWT({ nonce })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setAudience(LINK_AUDIENCE)
    .setSubject(identity.node)
    .setExpirationTime(Math.floor(Date.now() / 1000) + 60)
    .sign(key);
}

/** The file is trusted as the administrator brought it: it pins the platform's address and key, which sign all later. */
function readToken(token: string): EnrolmentClaims {
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
    throw new EnrolmentError(`The platform at ${originOf(claims)} cannot be reached: ${reasonOf(error)}`);
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
  await writeDurably(path, exportKey(key), 0o600);
  return key;
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
