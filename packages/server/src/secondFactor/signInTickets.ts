import { createHash, randomBytes } from 'node:crypto';
import type { AuthType, SecondFactorMethod } from '@stagi/contract/authResponse.ts';
import type { Language } from '@stagi/contract/languages.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

const TICKET_MINUTES = 10;
const TICKET_TRIES = 10;

/** The second factors that a user can submit; empty if they have set up none. */
export async function secondFactorMethodsOf(db: Db, userId: number): Promise<SecondFactorMethod[]> {
  const { rows } = await sql<{ totp: boolean; passkey: boolean; recovery: boolean }>`select
    exists (select 1 from totp where user_id = ${userId} and secret_sealed is not null) as totp,
    exists (select 1 from passkey where user_id = ${userId}) as passkey,
    exists (select 1 from recovery_code where user_id = ${userId} and used_at is null) as recovery`.execute(db);
  const has = rows[0];
  // Recovery codes replace a factor; alone they are none.
  if (!has?.totp && !has?.passkey) return [];
  return [
    ...(has.passkey ? (['passkey'] as const) : []),
    ...(has.totp ? (['totp'] as const) : []),
    ...(has.recovery ? (['recovery-code'] as const) : []),
  ];
}

/** What the user has set up, for their security page. */
export async function secondFactorOverview(
  db: Db,
  userId: number,
): Promise<{ totpSince: string | null; passkeys: number; recoveryCodesLeft: number }> {
  const { rows } = await sql<{ since: Date | null; passkeys: number; left: number }>`select
    (select confirmed_at from totp where user_id = ${userId}) as since,
    (select count(*)::int from passkey where user_id = ${userId}) as passkeys,
    (select count(*)::int from recovery_code where user_id = ${userId} and used_at is null) as left`.execute(db);
  const row = rows[0];
  return {
    totpSince: row?.since?.toISOString() ?? null,
    passkeys: row?.passkeys ?? 0,
    recoveryCodesLeft: row?.left ?? 0,
  };
}

interface Ticket {
  hash: Buffer;
  user: { id: number; email: string; name: string; language: Language | null };
  authType: AuthType;
}

/** The user of a ticket; `null` when it is expired, consumed or tried too often. */
export async function findTicket(db: Db, ticket: string): Promise<Ticket | null> {
  const hash = ticketHash(ticket);
  const row = await db
    .selectFrom('second_factor_ticket as t')
    .innerJoin('app_user as u', 'u.id', 't.user_id')
    .select(['u.id', 'u.email', 'u.name', 'u.language', 't.auth_type'])
    .where('t.hash', '=', hash)
    .where('t.expires_at', '>', sql<Date>`now()`)
    .where('t.tries', '<', TICKET_TRIES)
    .where('u.disabled_at', 'is', null)
    .executeTakeFirst();
  if (!row) return null;
  const { auth_type: authType, ...user } = row;
  return { hash, user, authType };
}

/** Counts a try before the factor is checked, so that parallel guesses are counted one by one. */
export async function countTicketTry(db: Db, { hash }: Ticket): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('second_factor_ticket')
    .set({ tries: sql<number>`tries + 1` })
    .where('hash', '=', hash)
    .where('tries', '<', TICKET_TRIES)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False when another request has consumed it: a ticket opens one session. */
export async function consumeTicket(trx: Db, { hash }: Ticket): Promise<boolean> {
  const { numDeletedRows } = await trx.deleteFrom('second_factor_ticket').where('hash', '=', hash).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Issued after the first factor; the second is submitted together with it. */
export async function issueTicket(db: Db, userId: number, authType: AuthType): Promise<string> {
  const ticket = randomBytes(32).toString('base64url');
  await db
    .insertInto('second_factor_ticket')
    .values({
      hash: ticketHash(ticket),
      user_id: userId,
      auth_type: authType,
      expires_at: sql<Date>`now() + ${`${TICKET_MINUTES} minutes`}::interval`,
    })
    .execute();
  return ticket;
}

const ticketHash = (ticket: string): Buffer => createHash('sha256').update(ticket).digest();
