import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import type { MailFailure } from './mailFailure.ts';

/** Longer than several checks take: without one for so long, no worker runs, and nothing is known. */
const KNOWN_FOR_SECONDS = 180;
const IS_RECENT = sql<boolean>`checked_at > now() - ${sql.lit(KNOWN_FOR_SECONDS)} * interval '1 second'`;

/** A refused sender is known until a mail is taken again: no check can tell. */
export const IS_KNOWN = sql<boolean>`(${IS_RECENT} or reason is not distinct from 'sender')`;

/** Many mails at once write the row as often as this, not once each. */
const REPEATED_AFTER = sql`interval '5 seconds'`;

interface Former {
  state: string | null;
  reason: string | null;
}

/** A mail was taken, or a check went through. A check names no sender, so it cannot tell that one is accepted again. */
export async function noteMailServerReached(
  ctx: Pick<Context, 'db' | 'log'>,
  { by }: { by: 'mail' | 'check' },
): Promise<void> {
  const former = await note(ctx, { state: 'reached', reason: null, detail: null }, by === 'check');
  if (former?.state === 'failing') ctx.log.info({ formerReason: former.reason }, 'the mail server works again');
}

export async function noteMailServerFails(ctx: Pick<Context, 'db' | 'log'>, failure: MailFailure): Promise<void> {
  const former = await note(ctx, { state: 'failing', ...failure }, false);
  if (former && former.reason !== failure.reason) ctx.log.warn(failure, 'mails cannot be sent');
}

/** Returns the state before; null when nothing was written. Of several workers the last one wins. */
async function note(
  { db }: Pick<Context, 'db'>,
  { state, reason, detail }: { state: 'reached' | 'failing'; reason: string | null; detail: string | null },
  leavesSender: boolean,
): Promise<Former | null> {
  const { rows } = await sql<Former>`
    with former as (select state, reason from mail_server)
    insert into mail_server (state, reason, detail) values (${state}, ${reason}, ${detail})
    on conflict (id) do update set
      state = excluded.state, reason = excluded.reason, detail = excluded.detail, checked_at = now(),
      since = case when mail_server.state = excluded.state then mail_server.since else now() end
    where (mail_server.reason is distinct from excluded.reason or mail_server.checked_at < now() - ${REPEATED_AFTER})
      and not (${leavesSender} and mail_server.reason is not distinct from 'sender')
    returning (select state from former) as state, (select reason from former) as reason`.execute(db);
  return rows[0] ?? null;
}

const RETRY_SECONDS = 60;

/**
 * Throws 503 where a mailed code would not arrive. Made first by each call that mails a code, so that nothing is counted
 * or stored, and so that known and unknown addresses get the same answer.
 */
export async function requireMail({ db, config }: Pick<Context, 'db' | 'config'>): Promise<void> {
  if (config.smtpUrl === null) {
    if (config.devMail) return;
    throw new PublicError(
      503,
      text('This platform has no mail server yet, so it cannot send a code. Ask its operator.'),
      { code: 'mail' },
    );
  }
  const failing = await db
    .selectFrom('mail_server')
    .select('id')
    .where('state', '=', 'failing')
    .where(IS_RECENT)
    .executeTakeFirst();
  if (failing)
    throw new PublicError(503, text('We could not send the mail. Try again in a few minutes.'), {
      code: 'mail',
      retryAfter: RETRY_SECONDS,
    });
}
