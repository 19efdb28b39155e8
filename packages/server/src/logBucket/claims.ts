import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { LIVE_WORKERS } from '../reconcile/workerRegistry.ts';

/** The right to copy the lines of one container, until it expires. Its token fences the intents. */
export interface Claim {
  containerId: number;
  token: string;
}

/** Long enough for a turn; a process that died loses its claims at once. */
const CLAIM_S = 120;
/** A link ends with its server; by then its last lines are stored. */
const LINES_AFTER_CLOSE_S = 10;
/** A daemon may still report the end of a container that was deleted. */
const LINES_AFTER_DELETE_S = 86_400;

/** SQL: whether no more lines of `container` on `instance` come. */
export const HAS_ENDED = sql<boolean>`(instance.closed_at < now() - make_interval(secs => ${LINES_AFTER_CLOSE_S})
  or container.deleted_at < now() - make_interval(secs => ${LINES_AFTER_DELETE_S}))`;

/** Schedules the copying of new lines: so long after they came, or at once when their container is deleted. */
export async function scheduleCopies(db: Db, afterMs: number): Promise<void> {
  await sql`
    with due as (
      select copy.container_id, container.deleted_at is not null as is_deleted
      from log_copy copy
      join container on container.id = copy.container_id
      join instance on instance.id = container.instance_id
      join log_head head on head.container_id = copy.container_id
      where copy.finished_at is null and (
        copy.next_at is null and (head.last_seq > copy.copied_seq or ${HAS_ENDED})
        or copy.next_at > now() and copy.attempts = 0 and container.deleted_at is not null)
      for no key update of copy skip locked)
    update log_copy copy
    set next_at = case when is_deleted then now() else now() + make_interval(secs => ${afterMs / 1000}) end
    from due where due.container_id = copy.container_id`.execute(db);
}

/** Claims the logs that wait longest. */
export async function claimDue(db: Db, limit: number, owner: number | null): Promise<Claim[]> {
  const { rows } = await sql<Claim>`
    with due as (
      select container_id from log_copy
      where next_at <= now() and finished_at is null
        and (lock_expires_at is null or lock_expires_at <= now() or lock_owner not in ${LIVE_WORKERS})
      order by next_at limit ${limit} for no key update skip locked)
    update log_copy copy set lock_token = gen_random_uuid(), lock_owner = ${owner}::integer,
      lock_expires_at = now() + make_interval(secs => ${CLAIM_S})
    from due where due.container_id = copy.container_id
    returning copy.container_id as "containerId", copy.lock_token as token`.execute(db);
  return rows;
}

/** When to go on: at once, when there are new lines, after a failure, or never. */
export type Release = 'more' | 'wait' | 'failed' | 'finished';

const BACKOFF_MAX_S = 300;

export async function release(db: Db, { containerId, token }: Claim, how: Release): Promise<void> {
  await db
    .updateTable('log_copy')
    .set({
      lock_token: null,
      lock_owner: null,
      lock_expires_at: null,
      attempts: how === 'failed' ? sql<number>`attempts + 1` : 0,
      next_at: NEXT[how],
      finished_at: how === 'finished' ? sql<Date>`now()` : null,
    })
    .where('container_id', '=', containerId)
    .where('lock_token', '=', token)
    .execute();
}

const NEXT: Record<Release, ReturnType<typeof sql<Date>> | null> = {
  more: sql<Date>`now()`,
  wait: null,
  failed: sql<Date>`now() + make_interval(secs => least(${BACKOFF_MAX_S}, 2 ^ least(attempts, 10)))`,
  finished: null,
};
