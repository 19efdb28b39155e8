import type { AnalyticsInput } from '@stagi/contract/analytics.ts';
import { matchHost } from '@stagi/contract/hosts.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { limiterOf, takePoint } from '../http/takePoint.ts';

type Visitor = Pick<Context, 'config' | 'db' | 'jobs'> & { ip: string };

/** Anybody may call: this much from one address, then 429. */
const fromOneAddress = limiterOf({ points: 120, duration: 60 });

/** Keeps an event, once, together with the job that hands it on; forgets it at once where its host has no analytics. */
export async function keepEvent(ctx: Visitor, input: AnalyticsInput): Promise<void> {
  await takePoint(fromOneAddress(ctx), ctx.ip);
  if (keyOf(ctx.config, input.host) === null) return;
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

/** The key that events of a host are handed on with; null: analytics is off there. */
export function keyOf({ site }: Pick<Config, 'site'>, host: string): string | null {
  if (!site.analyticsUrl) return null;
  return site.analytics.find((known) => matchHost(known.host, host) !== null)?.key ?? null;
}
