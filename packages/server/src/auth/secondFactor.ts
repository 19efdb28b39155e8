import { createHash, randomBytes } from 'node:crypto';
import type { AuthType, SecondFactorMethod } from '@stagi/contract/secondFactor.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

const TICKET_MINUTES = 10;

/** What somebody can show beside their password; empty for those who have set up nothing. */
export async function methodsOf(db: Db, userId: number): Promise<SecondFactorMethod[]> {
  const { rows } = await sql<{ totp: boolean; passkey: boolean; recovery: boolean }>`select
    exists (select 1 from totp where user_id = ${userId} and secret_sealed is not null) as totp,
    exists (select 1 from passkey where user_id = ${userId}) as passkey,
    exists (select 1 from recovery_code where user_id = ${userId} and used_at is null) as recovery`.execute(db);
  const has = rows[0];
  // Recovery codes stand in for a factor; alone they are none.
  if (!has?.totp && !has?.passkey) return [];
  return [
    ...(has.passkey ? (['passkey'] as const) : []),
    ...(has.totp ? (['totp'] as const) : []),
    ...(has.recovery ? (['recovery-code'] as const) : []),
  ];
}

/** For somebody who has passed the first factor: what the second is shown together with. */
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

export const ticketHash = (ticket: string): Buffer => createHash('sha256').update(ticket).digest();
