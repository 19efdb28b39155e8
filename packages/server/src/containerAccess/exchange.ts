import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { finishAccessRequest } from './accessRequest.ts';
import { originOf, type PortTarget } from './address.ts';
import { hashOfCode } from './code.ts';
import { CONTAINER_COOKIE, cookiesNamed, PASS_COOKIE, setCookie } from './cookies.ts';
import { accessOfPass, PASS_HOURS, type Pass, signPass } from './pass.ts';

/** Browsers keep no cookie longer. */
const KNOWN_DAYS = 400;

/** The redirect that answers a valid code. */
export interface PassResponse {
  setCookies: string[];
  /** The browser may hold a service worker, or stored data, of another container that had this host before. */
  clearsSite: boolean;
  /** An absolute address on the port's host. */
  location: string;
}

/**
 * Exchanges a code for the pass cookie of the port's host. Any use consumes it, also on the wrong host or by the wrong
 * browser. Its session must still be valid and authorized.
 */
export async function exchangeCode(
  ctx: Context,
  place: PortTarget,
  code: string,
  cookies: string | undefined,
): Promise<PassResponse | null> {
  const { appsDomain } = ctx.config;
  if (!appsDomain || !/^[\w-]{43}$/.test(code)) return null;
  const { rows } = await sql<ConsumedCode>`
    delete from container_code c using session s, container k
    where c.hash = ${hashOfCode(code)} and s.id = c.session_id and k.id = c.container_id
    returning c.container_id, c.port, c.path, c.session_id, c.trip_hash, s.user_id, k.slug,
      c.expires_at > clock_timestamp() as in_time`.execute(ctx.db);
  const consumed = rows[0];
  if (!consumed?.in_time || consumed.slug !== place.slug || consumed.port !== place.port) return null;
  const clearCookie = finishAccessRequest(ctx.config, cookies, consumed.trip_hash);
  if (clearCookie === null) return null;
  const pass: Pass = {
    place,
    containerId: consumed.container_id,
    userId: consumed.user_id,
    sessionId: consumed.session_id,
  };
  if (!(await accessOfPass(ctx, pass))) return null;
  return {
    setCookies: [
      setCookie(ctx.config, PASS_COOKIE, await signPass(ctx, pass), PASS_HOURS * 3600),
      setCookie(ctx.config, CONTAINER_COOKIE, pass.containerId, KNOWN_DAYS * 86_400),
      clearCookie,
    ],
    clearsSite: !isKnownTo(ctx, cookies, pass.containerId),
    // Absolute: a path alone could begin with two slashes.
    location: originOf(place, appsDomain) + consumed.path,
  };
}

/** Another port's page may have set more cookies of that name: none may say otherwise. */
function isKnownTo({ config }: Pick<Context, 'config'>, cookies: string | undefined, containerId: number): boolean {
  const known = cookiesNamed(config, CONTAINER_COOKIE, cookies);
  return known.length > 0 && known.every((id) => id === String(containerId));
}

interface ConsumedCode {
  container_id: number;
  port: number;
  path: string;
  session_id: string;
  trip_hash: Buffer | null;
  user_id: number;
  slug: string;
  in_time: boolean;
}

/** What may be the pass in a request's cookies: another port's page may have set more cookies of its name. */
export const passesFromCookies = ({ config }: Pick<Context, 'config'>, header: string | undefined): string[] =>
  cookiesNamed(config, PASS_COOKIE, header).filter((value) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value));
