import { TERMINAL_KEPT_SECONDS } from '@stagi/contract/terminals.ts';
import { sql } from 'kysely';
import { type Act, type Actor, recordAct } from '../audit/record.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

/** What a terminal is of: a container, or a server itself. */
export interface Place {
  type: 'docker-container' | 'instance-rented' | 'self-hosted-instance';
  /** Of the container or the server. */
  id: number;
  slug: string;
  instanceId: number;
  containerId: number | null;
}

/** A session is marked as seen this often, and counts as left this long after the daemon has ended it. */
export const SEEN_EVERY_MS = 20_000;
const LEFT_AFTER_S = TERMINAL_KEPT_SECONDS + 60;

const OPEN = 'terminal/open';
const END = 'terminal/end';

/** Whether this session is somebody else’s, or of another place. */
export async function isOfSomebodyElse(
  db: Db,
  session: string,
  { instanceId, containerId }: Place,
  userId: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('terminal_session')
    .select(['user_id', 'instance_id', 'container_id'])
    .where('id', '=', session)
    .executeTakeFirst();
  if (!row) return false;
  return row.user_id !== userId || row.instance_id !== instanceId || row.container_id !== containerId;
}

/** Writes down that a session was opened, in the audit log too, unless that was done before. */
export async function recordOpening(db: Db, session: string, place: Place, actor: Opener): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const made = await trx
      .insertInto('terminal_session')
      .values({
        id: session,
        workspace_id: actor.workspace.id,
        instance_id: place.instanceId,
        container_id: place.containerId,
        user_id: actor.user.id,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (made) await recordAct(trx, actor, actOf(place, OPEN, { session }));
    else await markSeen(trx, session);
  });
}

export type Opener = Actor & { user: { id: number }; workspace: { id: number } };

export async function recordRefusal(db: Db, place: Place, actor: Opener, message: string): Promise<void> {
  await recordAct(db, actor, { ...actOf(place, OPEN, { message }), outcome: 'refused' });
}

export async function markSeen(db: Db, session: string): Promise<void> {
  await db
    .updateTable('terminal_session')
    .set({ seen_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', session)
    .where('ended_at', 'is', null)
    .execute();
}

/** Writes down, once, that a session has ended and why. */
export async function recordEnd(
  db: Db,
  session: string,
  place: Place,
  actor: Opener,
  why: { reason: string; exitCode?: number | null },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const ended = await trx
      .updateTable('terminal_session')
      .set({ ended_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', session)
      .where('ended_at', 'is', null)
      .returning(sql<number>`round(extract(epoch from clock_timestamp() - opened_at))::int`.as('seconds'))
      .executeTakeFirst();
    if (ended) await recordAct(trx, actor, actOf(place, END, { session, seconds: ended.seconds, ...why }));
  });
}

/** Ends the record of sessions that nobody has come back to: their daemons have ended them. Returns how many. */
export async function endLeft({ db }: Pick<Context, 'db'>): Promise<number> {
  const left = await db
    .selectFrom('terminal_session as s')
    .innerJoin('instance as i', 'i.id', 's.instance_id')
    .leftJoin('container as c', 'c.id', 's.container_id')
    .select(['s.id', 's.user_id', 's.workspace_id', 's.instance_id', 's.container_id', 'i.kind', 'i.slug'])
    .select('c.slug as container_slug')
    .where('s.ended_at', 'is', null)
    .where('s.seen_at', '<', sql<Date>`now() - make_interval(secs => ${LEFT_AFTER_S})`)
    .orderBy('s.seen_at')
    .limit(500)
    .execute();
  for (const row of left) {
    const place: Place = {
      type:
        row.container_id !== null
          ? 'docker-container'
          : row.kind === 'rented'
            ? 'instance-rented'
            : 'self-hosted-instance',
      id: row.container_id ?? row.instance_id,
      slug: row.container_slug ?? row.slug,
      instanceId: row.instance_id,
      containerId: row.container_id,
    };
    const actor = {
      user: { id: row.user_id },
      workspace: { id: row.workspace_id },
      credential: null,
      ip: null,
      userAgent: null,
    };
    await recordEnd(db, row.id, place, actor, { reason: 'nobody came back' });
  }
  return left.length;
}

function actOf({ type, id, slug }: Place, what: string, detail: Record<string, unknown>): Act {
  return { action: `${type}/${what}`, outcome: 'done', object: { type, id: String(id), label: slug }, detail };
}
