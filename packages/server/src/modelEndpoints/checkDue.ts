import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { limitConcurrency } from '../loops/concurrency.ts';
import { checkEndpoint } from './check.ts';
import { findEndpoint } from './queries.ts';

/** One that does not answer keeps its turn for seconds. */
const AT_ONCE = 32;
const MAX_PER_PASS = 100;
/** A check that has not ended by then is done again: the process may have died. */
const CLAIM = '30 seconds';

/**
 * Asks the engines that are due, and looks at endpoints whose container has changed. Engines are asked by the process
 * that holds the link of their server. Returns whether an engine was found that is to fetch its model.
 */
export async function checkDueEndpoints(ctx: Context): Promise<boolean> {
  const due = await claimDue(ctx);
  const turns = limitConcurrency(AT_ONCE);
  const outcomes = await Promise.all(
    due.map(({ id, workspace_id }) =>
      turns(async () => {
        const row = await findEndpoint(ctx.db, workspace_id, ['rented', 'self-hosted'], id);
        return row !== undefined && (await checkEndpoint(ctx, ctx.db, row));
      }).catch((error: unknown) => {
        ctx.log.error({ err: error, endpointId: id }, 'a served model could not be checked; it is tried again');
        return false;
      }),
    ),
  );
  return outcomes.includes(true);
}

/** As `checked_container` keeps it: another value is another state of the container. */
const CONTAINER_STATE = sql`concat_ws(' ', c.id, c.status, c.started_at, c.last_ended_at, c.next_try_at is not null,
  c.looping_until is not null)`;

async function claimDue({ db, streams }: Context): Promise<{ id: number; workspace_id: number }[]> {
  const { rows } = await sql<{ id: number; workspace_id: number }>`
    with due as (
      select e.id, ${CONTAINER_STATE} as container_state from model_endpoint e join container c on c.id = e.container_id
      where e.container_id is not null and e.failed_reason is null and e.deleted_at is null and c.deleted_at is null
        and (c.status <> 'running' or e.instance_id = any(${streams.instanceIds()}::int[]))
        and (e.check_due <= now() or e.checked_container is distinct from ${CONTAINER_STATE})
      order by e.check_due limit ${MAX_PER_PASS} for update of e skip locked)
    update model_endpoint e set check_due = now() + ${CLAIM}::interval, checked_container = due.container_state
    from due where due.id = e.id returning e.id, e.workspace_id`.execute(db);
  return rows;
}
