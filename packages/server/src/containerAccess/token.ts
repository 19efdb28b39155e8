import type { Context } from '../context.ts';
import { forbidden, notFound, unauthenticated } from '../http/errors.ts';
import { parseApiToken } from '../secrets/apiTokenFormat.ts';
import { authenticate } from '../sessions/authenticate.ts';
import { accessibleMapping, findAccessibleContainer, type PortAccess } from './accessibleContainer.ts';
import type { PortTarget } from './address.ts';

/** The port for a container that needs the header `Authorization` for itself. */
export const TOKEN_HEADER = 'x-stagi-token';

/** The API token that a request shows, with whatever spelling of the scheme. */
export function tokenFromHeaders(headers: NodeJS.Dict<string | string[]>): string | null {
  const own = headers[TOKEN_HEADER];
  if (typeof own === 'string') return own.trim();
  const [, bearer = ''] = /^bearer\s+(\S+)\s*$/i.exec(String(headers.authorization ?? '')) ?? [];
  return bearer.startsWith('stg_') ? bearer : null;
}

/** Whether the value of an `Authorization` header holds an API token of ours: then no container may see it. */
export function holdsToken(authorization: string): boolean {
  if (/\bstg_/i.test(authorization)) return true;
  const [, base64] = /^basic\s+(\S+)\s*$/i.exec(authorization) ?? [];
  if (!base64) return false;
  const pair = Buffer.from(base64, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  return [pair.slice(0, colon), pair.slice(colon + 1)].some((part) => parseApiToken(part) !== null);
}

/** Authorizes a request to a port by an API token of whoever may view its container. Throws PublicError. */
export async function authorizeToken(
  ctx: Context,
  place: PortTarget,
  { token, ip }: { token: string; ip: string },
): Promise<PortAccess> {
  const found = await authenticate(ctx, `Bearer ${token}`, ip);
  if (found?.credential.kind !== 'token') throw unauthenticated();
  const container = await findAccessibleContainer(ctx.db, found.memberships, place.slug);
  if (container === 'forbidden') throw forbidden();
  const access = container && accessibleMapping(container, place.port, found.user.id);
  if (!access) throw notFound();
  return access;
}
