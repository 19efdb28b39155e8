import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { originOf, type PortPlace } from './address.ts';
import { hashOfCode } from './code.ts';
import { cookieName, setCookie, shownCookies } from './cookies.ts';
import { isStillLetIn, PASS_HOURS, type Pass, signPass } from './pass.ts';
import { endTrip } from './trip.ts';

const PASS = 'stagi-port';

/** What answers the browser that brought a code. */
export interface Entrance {
  setCookies: string[];
  /** A whole address on the host that the code was brought to. */
  location: string;
}

/**
 * Trades a code for the cookie of the host that it was brought to. Any use spends it, on the wrong host and by the wrong
 * browser too; whoever asked for it must still be logged in and let in.
 */
export async function exchangeCode(
  ctx: Context,
  place: PortPlace,
  code: string,
  cookies: string | undefined,
): Promise<Entrance | null> {
  const { appsDomain } = ctx.config;
  if (!appsDomain || !/^[\w-]{43}$/.test(code)) return null;
  const { rows } = await sql<Spent>`
    delete from container_code c using session s, container k
    where c.hash = ${hashOfCode(code)} and s.id = c.session_id and k.id = c.container_id
    returning c.container_id, c.port, c.path, c.session_id, c.trip_hash, s.user_id, k.slug,
      c.expires_at > clock_timestamp() as in_time`.execute(ctx.db);
  const spent = rows[0];
  if (!spent?.in_time || spent.slug !== place.slug || spent.port !== place.port) return null;
  const tripsEnd = endTrip(ctx.config, cookies, spent.trip_hash);
  if (tripsEnd === null) return null;
  const pass: Pass = { place, containerId: spent.container_id, userId: spent.user_id, sessionId: spent.session_id };
  if (!(await isStillLetIn(ctx, pass))) return null;
  return {
    setCookies: [setCookie(ctx.config, PASS, await signPass(ctx, pass), PASS_HOURS * 3600), tripsEnd],
    // Whole: a path alone could begin with two slashes.
    location: originOf(place, appsDomain) + spent.path,
  };
}

interface Spent {
  container_id: number;
  port: number;
  path: string;
  session_id: string;
  trip_hash: Buffer | null;
  user_id: number;
  slug: string;
  in_time: boolean;
}

/** The pass that a browser shows; `null` where there is none, or more than one. */
export const shownPass = ({ config }: Pick<Context, 'config'>, header: string | undefined): string | null =>
  shownCookies(config, PASS, header).get(cookieName(config, PASS)) ?? null;
