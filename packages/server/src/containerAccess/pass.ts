import { jwtVerify, SignJWT } from 'jose';
import { loadSession } from '../auth/authenticate.ts';
import type { Context } from '../context.ts';
import type { PortPlace } from './address.ts';
import { findEntrance, hasPort } from './entrance.ts';

/** However long a tab stays open, its visitor passes by the access page again, which asks nothing of who is logged in. */
export const PASS_HOURS = 12;
const ISSUER = 'stagi';
const AUDIENCE = 'stagi-port';
const TYPE = 'port+jwt';

/** Whom a pass lets in, and where. */
export interface Pass {
  place: PortPlace;
  containerId: number;
  userId: number;
  sessionId: string;
}

/** What the cookie of a port's host holds: who came by which session, for this host alone. It says nothing of what they may do. */
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
 * Who may see a port now by the pass that they show; `null` for nobody. Session, membership, permission and container
 * are read anew, so that a removal bites at once.
 */
export async function admitted(ctx: Context, place: PortPlace, shown: string): Promise<Pass | null> {
  const pass = await readPass(ctx, place, shown);
  return pass && (await isStillLetIn(ctx, pass)) ? pass : null;
}

/** Whether this session may see this port of this very container. */
export async function isStillLetIn(ctx: Context, { place, containerId, userId, sessionId }: Pass): Promise<boolean> {
  const visitor = await loadSession(ctx, sessionId, userId);
  if (!visitor || visitor.app) return false;
  const found = await findEntrance(ctx.db, visitor.memberships, place.slug);
  if (found === null || found === 'forbidden') return false;
  // A container that was made later under the same name is another one.
  return found.id === containerId && hasPort(found, place.port);
}

async function readPass({ keys }: Pick<Context, 'keys'>, place: PortPlace, shown: string): Promise<Pass | null> {
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
