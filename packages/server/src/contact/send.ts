import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { tooManyRequests } from '../http/errors.ts';
import { networkOf } from '../http/network.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import type { Visitor } from '../http/visitor.ts';
import { contactRequestMail } from '../mail/contactMail.ts';
import { sendMail } from '../mail/send.ts';
import { looksAutomated } from './automated.ts';

type Input = ParsedInputOf<typeof api.contact.send>;

const HOUR_S = 3_600;

/** Each process counts for itself; the limit over all addresses is counted in the database. */
const fromOneAddress = createRateLimiter({ points: 10, duration: HOUR_S });

export const REQUESTS_PER_HOUR = 120;

/** In characters: two people may both write a shorter message. */
const COPY_MIN = 40;

/**
 * Stores a request, and mails it to the operators' address, if one is configured. Never to the address that was typed: it is
 * anybody's. What looks automated is stored only.
 */
export async function sendContactRequest(ctx: Visitor, input: Input): Promise<void> {
  await consumePoint(fromOneAddress(ctx), networkOf(ctx.ip));
  const userId = ctx.sessionUserId;
  await inTransaction(ctx.db, async (trx) => {
    await limitAll(trx);
    const isAutomated = looksAutomated(input) || (await isCopy(trx, input));
    const recipient = isAutomated ? null : ctx.config.site.supportEmail;
    const { model, gpu, quality } = input.about ?? {};
    const row = await trx
      .insertInto('contact_request')
      .values({
        send_key: input.key ?? null,
        topic: input.topic,
        name: input.name,
        email: input.email,
        company: input.company || null,
        message: input.message,
        model_id: model?.id ?? null,
        model_name: model?.name ?? null,
        gpu: gpu || null,
        quality: quality || null,
        user_id: userId,
        looks_automated: isAutomated,
        mailed: recipient !== null,
      })
      // It was sent again because its answer got lost.
      .onConflict((conflict) => conflict.column('send_key').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!row || recipient === null) return;
    // The address belongs to no person whose language is known.
    const mail = contactRequestMail(
      { config: ctx.config, language: 'en' },
      { ...input, id: row.id, company: input.company || null, about: input.about ?? null },
    );
    await sendMail(ctx, trx, recipient, mail);
  });
}

/** The same words from another address within a day: nobody writes those twice. */
async function isCopy(trx: Db, { message, email }: Input): Promise<boolean> {
  const row = await trx
    .selectFrom('contact_request')
    .select('id')
    .where('message', '=', message)
    .where('email', '<>', email)
    .where(sql<boolean>`created_at > now() - interval '1 day'`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined && message.length >= COPY_MIN;
}

/** Throws 429 with the wait when the requests of the last hour are used up. One request after the other is counted. */
async function limitAll(trx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('contact_request', 0))`.execute(trx);
  const row = await trx
    .selectFrom('contact_request')
    .select(
      sql<number>`ceil(extract(epoch from created_at + ${HOUR_S} * interval '1 second' - now()))::int`.as('seconds'),
    )
    .orderBy('id', 'desc')
    .offset(REQUESTS_PER_HOUR - 1)
    .limit(1)
    .executeTakeFirst();
  if (row && row.seconds > 0) throw tooManyRequests(row.seconds);
}
