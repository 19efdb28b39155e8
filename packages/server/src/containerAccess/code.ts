import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Authenticated, Membership } from '../auth/authenticate.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, invalid, notFound, refused } from '../http/errors.ts';
import { originOf, placeOfAddress } from './address.ts';
import { findEntrance, hasPort } from './entrance.ts';
import { hashOfState } from './trip.ts';

const CODE_SECONDS = 60;

/** Answered on the host of a port itself; nothing that runs in a container sees it. */
export const ENTER_PATH = '/.stagi/enter';

interface Caller extends Pick<Authenticated, 'session'> {
  memberships: readonly Membership[];
  config: Pick<Config, 'appsDomain'>;
  db: Db;
}

/**
 * Leads the caller's browser to the host of a port with a code that is bound to container, port and session, and to the
 * browser that came from there; one that did not is sent there first.
 */
export async function enterPort(
  { config: { appsDomain }, db, session, memberships }: Caller,
  { slug, returnUrl, trip }: { slug: string; returnUrl: string; trip?: string },
): Promise<string> {
  const found = await findEntrance(db, memberships, slug);
  if (found === null) throw notFound();
  if (found === 'forbidden') throw forbidden();
  if (!appsDomain)
    throw refused('Ports of containers cannot be opened in a browser here: the operator has set up no domain for them');
  const wanted = placeOfAddress(returnUrl, slug, appsDomain);
  if (!wanted) throw invalid('This address does not belong to the container', 'returnUrl');
  const { place, path } = wanted;
  if (!hasPort(found, place.port))
    throw invalid('The container has no port {{port}}', 'returnUrl', { port: place.port });
  const tripHash = hashOfState(trip);
  if (!tripHash) return originOf(place, appsDomain) + path;
  const code = randomBytes(32).toString('base64url');
  await db
    .insertInto('container_code')
    .values({
      hash: hashOfCode(code),
      container_id: found.id,
      port: place.port,
      session_id: session.id,
      path,
      trip_hash: tripHash,
      expires_at: sql<Date>`now() + make_interval(secs => ${CODE_SECONDS})`,
    })
    .execute();
  return `${originOf(place, appsDomain)}${ENTER_PATH}?code=${code}`;
}

export const hashOfCode = (code: string): Buffer => createHash('sha256').update(code).digest();
