import { randomBytes } from 'node:crypto';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { SIGN_UP_LINK_DAYS_MAX, type SignUpLink, type SignUpLinkStatus } from '@stagi/contract/signUpLinks.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/schema.ts';
import { invalid, notFound } from '../http/errors.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';
import { hashOfInvite } from '../invites/hash.ts';

interface NewLink {
  note: string;
  uses: number;
  expiresAt: string;
}

/** Creates a link; `createdBy` is `null` at the command line. Only a hash of its code is stored. */
export async function createSignUpLink(
  { db, config }: { db: Db; config: Pick<Config, 'appOrigin'> },
  createdBy: number | null,
  { note, uses, expiresAt }: NewLink,
): Promise<{ entity: SignUpLink; link: string }> {
  const code = randomBytes(32).toString('base64url');
  const { rows } = await sql<{ id: number; is_late: boolean; is_long: boolean }>`
    insert into sign_up_link (hash, note, uses_max, expires_at, created_by)
    values (${hashOfInvite(code)}, ${note}, ${uses}, ${expiresAt}::timestamptz, ${createdBy})
    returning id, expires_at <= now() as is_late,
      expires_at > now() + make_interval(days => ${SIGN_UP_LINK_DAYS_MAX}, mins => 5) as is_long`.execute(db);
  const { id, is_late, is_long } = rows[0]!;
  // Throwing rolls the call's transaction back, and the row with it.
  if (is_late) throw invalid(text('The expiration must be in the future'), 'expiresAt');
  if (is_long)
    throw invalid(text('A sign-up link is valid for at most {{days}} days'), 'expiresAt', {
      days: SIGN_UP_LINK_DAYS_MAX,
    });
  return { entity: await oneLink(db, id), link: `${config.appOrigin}/sign-up?invite=${code}` };
}

/** Revokes a link; accounts that were made with it stay. Revoking it again changes nothing. */
export async function revokeSignUpLink(trx: Db, id: number): Promise<SignUpLink> {
  await trx
    .updateTable('sign_up_link')
    .set({ revoked_at: sql<Date>`now()` })
    .where(sql<boolean>`id = ${id}::bigint`)
    .where('revoked_at', 'is', null)
    .execute();
  return oneLink(trx, id);
}

/** Takes one of the link's uses; false where it has none or does not work any more. */
export async function takeSignUpLink(trx: Db, hash: Buffer): Promise<boolean> {
  const taken = await trx
    .updateTable('sign_up_link')
    .set({ used: sql<number>`used + 1` })
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', sql<Date>`clock_timestamp()`)
    .where(sql<boolean>`used < uses_max`)
    .returning('id')
    .executeTakeFirst();
  return taken !== undefined;
}

/** The end of a link that works now; `null` for any other. */
export async function endOfSignUpLink(db: Db, hash: Buffer): Promise<Date | null> {
  const row = await links(db).where('l.hash', '=', hash).where(sql<boolean>`${status} = 'open'`).executeTakeFirst();
  return row?.expires_at ?? null;
}

const status = sql<SignUpLinkStatus>`case when l.revoked_at is not null then 'revoked'
  when l.used >= l.uses_max then 'used up' when l.expires_at <= clock_timestamp() then 'expired' else 'open' end`;

const links = (db: Db) =>
  db
    .selectFrom('sign_up_link as l')
    .leftJoin('app_user as u', 'u.id', 'l.created_by')
    .select([
      'l.id',
      'l.note',
      'l.used',
      'l.uses_max',
      'l.expires_at',
      'l.created_by',
      'l.created_at',
      'l.revoked_at',
      'u.name',
      'u.email',
      status.as('status'),
    ]);

async function oneLink(db: Db, id: number): Promise<SignUpLink> {
  const row = await links(db).where(sql<boolean>`l.id = ${id}::bigint`).executeTakeFirst();
  if (!row) throw notFound();
  return present(row);
}

const SORTABLE = {
  createdAt: 'l.created_at',
  expiresAt: 'l.expires_at',
  note: 'l.note',
  used: 'l.used',
} as const;

export async function listSignUpLinks(
  db: Db,
  request: EntityFilterRequest,
): Promise<{ entities: SignUpLink[]; count: number }> {
  let some = links(db);
  if (request.queryString) some = some.where(contains(['l.note', 'u.name'], request.queryString));
  if (request.statuses?.length) some = some.where(sql<boolean>`${status} = any(${request.statuses}::text[])`);
  const [rows, { count }] = await Promise.all([
    some
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('l.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    some.clearSelect().select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { entities: rows.map(present), count };
}

type Row = Awaited<ReturnType<ReturnType<typeof links>['execute']>>[number];

function present(row: Row): SignUpLink {
  return {
    id: row.id,
    note: row.note,
    status: row.status,
    used: row.used,
    usesMax: row.uses_max,
    expiresAt: row.expires_at.toISOString(),
    createdBy:
      row.created_by === null ? null : { userId: row.created_by, name: row.name ?? '', email: row.email ?? '' },
    createdAt: row.created_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}
