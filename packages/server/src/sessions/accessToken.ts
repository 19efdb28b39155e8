import { jwtVerify, SignJWT } from 'jose';
import type { SigningKey } from './signingKeys.ts';

export const ACCESS_TOKEN_SECONDS = 300;
const ISSUER = 'stagi';
const AUDIENCE = 'stagi-api';
const TYPE = 'at+jwt';

/** An access token names user and session. Permissions are not in it: they are read at each request. */
export function signAccessToken(key: SigningKey, userId: number, sessionId: string): Promise<string> {
  return new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: 'EdDSA', typ: TYPE })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(String(userId))
    .setIssuedAt()
    .setExpirationTime(`${ACCESS_TOKEN_SECONDS}s`)
    .sign(key.privateKey);
}

/** `null` for anything but a valid, unexpired token of ours. */
export async function verifyAccessToken(
  key: SigningKey,
  token: string,
): Promise<{ userId: number; sessionId: string } | null> {
  const verified = await jwtVerify(token, key.publicKey, {
    algorithms: ['EdDSA'],
    issuer: ISSUER,
    audience: AUDIENCE,
    typ: TYPE,
    requiredClaims: ['sub', 'sid', 'exp'],
  }).catch(() => null);
  if (!verified || typeof verified.payload.sid !== 'string') return null;
  return { userId: Number(verified.payload.sub), sessionId: verified.payload.sid };
}
