import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { originOf, type PortPlace } from './address.ts';
import { hashOfCode } from './code.ts';
import { isStillLetIn, PASS_HOURS, type Pass, signPass } from './pass.ts';

/** What answers the browser that brought a code. */
export interface Entrance {
  setCookie: string;
  /** A whole address on the host that the code was brought to. */
  location: string;
}

/**
 * Trades a code for the cookie of the host that it was brought to. Any use spends it, on the wrong host too; whoever
 * asked for it must still be logged in and let in.
 */
export async function exchangeCode(ctx: Context, place: PortPlace, code: string): Promise<Entrance | null> {
  const { appsDomain } = ctx.config;
  if (!appsDomain || !/^[\w-]{43}$/.test(code)) return null;
  const { rows } = await sql<Spent>`
    delete from container_code c using session s, container k
    where c.hash = ${hashOfCode(code)} and s.id = c.session_id and k.id = c.container_id
    returning c.container_id, c.port, c.path, c.session_id, s.user_id, k.slug,
      c.expires_at > clock_timestamp() as in_time`.execute(ctx.db);
  const spent = rows[0];
  if (!spent?.in_time || spent.slug !== place.slug || spent.port !== place.port) return null;
  const pass: Pass = { place, containerId: spent.container_id, userId: spent.user_id, sessionId: spent.session_id };
  if (!(await isStillLetIn(ctx, pass))) return null;
  return {
    setCookie: cookie(ctx, await signPass(ctx, pass), PASS_HOURS * 3600),
    // Whole: a path alone could begin with two slashes.
    location: originOf(place, appsDomain) + spent.path,
  };
}

interface Spent {
  container_id: number;
  port: number;
  path: string;
  session_id: string;
  user_id: number;
  slug: string;
  in_time: boolean;
}

/** The pass that a browser shows; `null` where there is none, or more than one. */
export function shownPass({ config }: Pick<Context, 'config'>, header: string | undefined): string | null {
  const prefix = `${cookieName(config)}=`;
  const shown = (header ?? '').split(';').map((pair) => pair.trim());
  const [pass, ...more] = shown.filter((pair) => pair.startsWith(prefix));
  return pass === undefined || more.length > 0 ? null : pass.slice(prefix.length);
}

function cookie({ config }: Pick<Context, 'config'>, value: string, seconds: number): string {
  const secure = isSecure(config) ? '; Secure' : '';
  return `${cookieName(config)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** Browsers keep a `__Host-` cookie from every other host, those of other ports among them. */
const cookieName = (config: Context['config']): string => (isSecure(config) ? '__Host-stagi-port' : 'stagi-port');
const isSecure = ({ appsDomain }: Context['config']): boolean => appsDomain?.protocol === 'https:';
