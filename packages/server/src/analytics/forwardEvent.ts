import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { RunningQueue } from '../jobs/queue.ts';
import { analyticsKeyOf } from './storeEvent.ts';

const TRIES = 8;
const TIMEOUT_MS = 10_000;

type ForwardContext = Pick<Context, 'config' | 'db' | 'log'>;

/** Forwards stored events to the operator's analytics service, one job each. */
export async function startAnalyticsWorker(ctx: ForwardContext, queue: RunningQueue): Promise<void> {
  await queue.work('analytics.forward', ({ eventId }) => forwardEvent(ctx, eventId));
}

/**
 * Forwards one event and deletes it. A failure is retried, 8 attempts in all; an event that is refused for good is
 * dropped. `insert_id` makes a retry idempotent.
 */
export async function forwardEvent(ctx: ForwardContext, eventId: number): Promise<void> {
  const event = await ctx.db.selectFrom('analytics_event').selectAll().where('id', '=', eventId).executeTakeFirst();
  if (!event) return;
  const key = analyticsKeyOf(ctx.config, event.host);
  const url = ctx.config.site.analyticsUrl;
  if (!key || !url) return deleteEvent(ctx, eventId);

  const problem = await send(url, {
    api_key: key,
    options: { min_id_length: 1 },
    events: [
      {
        event_type: event.name ?? '$identify',
        device_id: event.visitor,
        user_id: event.identifier ?? undefined,
        time: event.created_at.getTime(),
        insert_id: `${eventId}-${event.created_at.getTime()}`,
        [event.name ? 'event_properties' : 'user_properties']: event.properties,
      },
    ],
  });
  if (problem === null) return deleteEvent(ctx, eventId);
  if (problem.isPermanent || event.tries + 1 >= TRIES) {
    ctx.log.warn({ eventId, name: event.name, problem: problem.words }, 'an analytics event was dropped');
    return deleteEvent(ctx, eventId);
  }
  await ctx.db
    .updateTable('analytics_event')
    .set({ tries: sql<number>`tries + 1` })
    .where('id', '=', eventId)
    .execute();
  throw new Error(`analytics cannot be reached: ${problem.words}`);
}

/** Null when it was accepted. */
async function send(url: string, body: unknown): Promise<{ words: string; isPermanent: boolean } | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.ok) return null;
    const isPermanent = response.status < 500 && response.status !== 408 && response.status !== 429;
    return { words: `HTTP ${response.status}`, isPermanent };
  } catch (cause) {
    return { words: String(cause), isPermanent: false };
  }
}

async function deleteEvent({ db }: Pick<Context, 'db'>, eventId: number): Promise<void> {
  await db.deleteFrom('analytics_event').where('id', '=', eventId).execute();
}
