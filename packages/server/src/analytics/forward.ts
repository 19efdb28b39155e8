import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { RunningQueue } from '../jobs/queue.ts';
import { keyOf } from './keep.ts';

const TRIES = 8;
const TIMEOUT_MS = 10_000;

type Surroundings = Pick<Context, 'config' | 'db' | 'log'>;

/** Hands kept events on to the operator's analytics, one job each. */
export async function workOnAnalytics(ctx: Surroundings, queue: RunningQueue): Promise<void> {
  await queue.work('analytics.forward', ({ eventId }) => forward(ctx, eventId));
}

/**
 * Hands one event on and forgets it. What the other side does not take now is tried again, 8 times in all; what it
 * refuses for good is dropped. `insert_id` lets it drop what reached it twice.
 */
export async function forward(ctx: Surroundings, eventId: number): Promise<void> {
  const event = await ctx.db.selectFrom('analytics_event').selectAll().where('id', '=', eventId).executeTakeFirst();
  if (!event) return;
  const key = keyOf(ctx.config, event.host);
  const url = ctx.config.site.analyticsUrl;
  if (!key || !url) return forget(ctx, eventId);

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
  if (problem === null) return forget(ctx, eventId);
  if (problem.forGood || event.tries + 1 >= TRIES) {
    ctx.log.warn({ eventId, name: event.name, problem: problem.words }, 'an analytics event was dropped');
    return forget(ctx, eventId);
  }
  await ctx.db
    .updateTable('analytics_event')
    .set({ tries: sql<number>`tries + 1` })
    .where('id', '=', eventId)
    .execute();
  throw new Error(`analytics cannot be reached: ${problem.words}`);
}

/** Null when it was taken. */
async function send(url: string, body: unknown): Promise<{ words: string; forGood: boolean } | null> {
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
    const forGood = response.status < 500 && response.status !== 408 && response.status !== 429;
    return { words: `HTTP ${response.status}`, forGood };
  } catch (cause) {
    return { words: String(cause), forGood: false };
  }
}

async function forget({ db }: Pick<Context, 'db'>, eventId: number): Promise<void> {
  await db.deleteFrom('analytics_event').where('id', '=', eventId).execute();
}
