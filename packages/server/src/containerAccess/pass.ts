import { jwtVerify, SignJWT } from 'jose';
import type { Context } from '../context.ts';
import { loadSession } from '../sessions/authenticate.ts';
import { accessibleMapping, findAccessibleContainer, type PortAccess } from './accessibleContainer.ts';
import type { PortTarget } from './address.ts';

/** After this the browser passes through the access page again, which asks nothing of a signed-in user. */
export const PASS_HOURS = 12;
const ISSUER = 'stagi';
const AUDIENCE = 'stagi-port';
const TYPE = 'port+jwt';

/** The claims of a pass. */
export interface Pass {
  place: PortTarget;
  containerId: number;
  userId: number;
  sessionId: string;
}

/** Signs the value of a port's cookie: user and session, for this host only. It has no permissions: they are read anew. */
export function signPass({ keys }: Pick<Context, 'keys'>, { place, containerId, userId, sessionId }: Pass) {
  return new SignJWT({ sid: sessionId, cid: containerId, at: `${place.slug}-${place.port}` })
    .setProtectedHeader({ alg: 'EdDSA', typ: TYPE })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(String(userId))
    .setIssuedAt()
    .setExpirationTime(`${PASS_HOURS}h`)
    .sign(keys.access.privateKey);
}

/**
 * Authorizes a request to a port by its pass; `null` if it may not see the port now. Session, membership, permission and
 * container are read each time, so that revoking any of them takes effect at once.
 */
export async function authorizePass(ctx: Context, place: PortTarget, shown: string): Promise<PortAccess | null> {
  const pass = await readPass(ctx, place, shown);
  return pass && accessOfPass(ctx, pass);
}

/** The port as the session may still see it; `null` if it may not. */
export async function accessOfPass(
  ctx: Context,
  { place, containerId, userId, sessionId }: Pass,
): Promise<PortAccess | null> {
  const visitor = await loadSession(ctx, sessionId, userId);
  if (!visitor || visitor.app) return null;
  const found = await findAccessibleContainer(ctx.db, visitor.memberships, place.slug);
  // A later container with the same Unique ID is another one.
  if (found === null || found === 'forbidden' || found.id !== containerId) return null;
  return accessibleMapping(found, place.port, userId);
}

async function readPass({ keys }: Pick<Context, 'keys'>, place: PortTarget, shown: string): Promise<Pass | null> {
  const verified = await jwtVerify(shown, keys.access.publicKey, {
    algorithms: ['EdDSA'],
    issuer: ISSUER,
    audience: AUDIENCE,
    typ: TYPE,
    requiredClaims: ['sub', 'sid', 'cid', 'at', 'exp'],
  }).catch(() => null);
  if (!verified) return null;
  const { sub, sid, cid, at } = verified.payload;
  if (at !== `${place.slug}-${place.port}` || typeof sid !== 'string' || typeof cid !== 'number') return null;
  return { place, containerId: cid, userId: Number(sub), sessionId: sid };
}
