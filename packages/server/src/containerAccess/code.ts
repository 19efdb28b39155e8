import { createHash, randomBytes } from 'node:crypto';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, invalid, notFound, refused } from '../http/errors.ts';
import type { Authenticated, Membership } from '../sessions/authenticate.ts';
import { findAccessibleContainer, hasPort } from './accessibleContainer.ts';
import { hashOfState } from './accessRequest.ts';
import { originOf, targetOfUrl } from './address.ts';

const CODE_SECONDS = 60;

/** Served by the platform on the port's host: the container does not see these requests. */
export const ENTER_PATH = '/.stagi/enter';

interface Caller extends Pick<Authenticated, 'session'> {
  memberships: readonly Membership[];
  config: Pick<Config, 'appsDomain'>;
  db: Db;
}

/**
 * The address that the caller's browser is sent to: the port's host with a code bound to container, port, session and
 * access request. Without an access request it is the host itself, which starts one.
 */
export async function issuePortCode(
  { config: { appsDomain }, db, session, memberships }: Caller,
  { slug, returnUrl, trip }: { slug: string; returnUrl: string; trip?: string },
): Promise<string> {
  const found = await findAccessibleContainer(db, memberships, slug);
  if (found === null) throw notFound();
  if (found === 'forbidden') throw forbidden();
  if (!appsDomain)
    throw refused(text('Container ports cannot be opened in a browser: the operator has not set up a domain for them'));
  const wanted = targetOfUrl(returnUrl, slug, appsDomain);
  if (!wanted) throw invalid(text('This address does not belong to the container'), 'returnUrl');
  const { place, path } = wanted;
  if (!hasPort(found, place.port))
    throw invalid(text('The container has no port {{port}}'), 'returnUrl', { port: place.port });
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
