import type { AnalyticsInput } from '@stagi/contract/analytics.ts';
import { matchHostPattern } from '@stagi/contract/hostPattern.ts';
import type { Config } from '../config/config.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';

type EventContext = Pick<Context, 'config' | 'db' | 'jobs'> & { ip: string };

/** A public call: rate limited per IP address. */
const fromOneAddress = createRateLimiter({ points: 120, duration: 60 });

/** Stores an event once, with the job that forwards it. Does nothing for a host without analytics. */
export async function storeEvent(ctx: EventContext, input: AnalyticsInput): Promise<void> {
  await consumePoint(fromOneAddress(ctx), ctx.ip);
  if (analyticsKeyOf(ctx.config, input.host) === null) return;
  await inTransaction(ctx.db, async (trx) => {
    const { id } = await trx
      .insertInto('analytics_event')
      .values({
        host: input.host,
        visitor: input.visitor,
        identifier: input.identifier,
        name: input.type === 'event' ? input.name : null,
        properties: JSON.stringify(input.properties),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const isNew = await ctx.jobs.enqueue(trx, 'analytics.forward', { eventId: id }, input.id);
    if (!isNew) await trx.deleteFrom('analytics_event').where('id', '=', id).execute();
  });
}

/** The API key that a host's events are forwarded with; null: analytics is off for it. */
export function analyticsKeyOf({ site }: Pick<Config, 'site'>, host: string): string | null {
  if (!site.analyticsUrl) return null;
  return site.analytics.find((known) => matchHostPattern(known.host, host) !== null)?.key ?? null;
}
