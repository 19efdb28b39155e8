import { engineTemplate, fillIn } from '@stagi/contract/engineTemplates.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { StreamRefused } from '../nodes/streamHub.ts';
import { askEngine, EngineError, readShort } from './ask.ts';
import { addressOf } from './check.ts';
import { type EndpointView, findEndpoint } from './queries.ts';
import { jsonOf, ownReason, reasonIn } from './reason.ts';
import { servedOf } from './served.ts';

const PASS_MS = 2_000;
/** Renewed at each pass. After the death of a process another one takes its loads over. */
const LEASE = '30 seconds';
const MAX_PER_PASS = 20;
/** Engines fetch their model while the request goes on. */
const LOAD_WITHIN_MS = 60 * 60_000;

/** The process ends. */
class Stopped extends Error {}

/**
 * Asks engines to fetch their model where a check found that they lack it (`load_asked_at`). Such a request lasts as long
 * as the download; an engine that is asked twice for the same model fetches it once.
 */
export function startModelLoads(ctx: Context): { now(): void; stop(): Promise<void> } {
  const running = new Map<number, { lease: string; ended: Promise<void> }>();
  const stopping = new AbortController();
  const loop = repeatEvery(ctx, PASS_MS, 'loads of served models', async () => {
    await renew(
      ctx,
      [...running.values()].map(({ lease }) => lease),
    );
    for (const { id, workspace_id, load_lease: lease } of await claimLoads(ctx)) {
      const ended = performLoad(ctx, { id, workspaceId: workspace_id, lease }, stopping.signal)
        .catch((error: unknown) => ctx.log.error({ err: error, endpointId: id }, 'the load of a model was not noted'))
        .finally(() => {
          // Another one may have taken its place after its lease had ended.
          if (running.get(id)?.lease === lease) running.delete(id);
        });
      running.set(id, { lease, ended });
    }
  });
  return {
    now: () => loop.now(),
    async stop() {
      await loop.stop();
      stopping.abort(new Stopped());
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

async function renew({ db }: Context, leases: readonly string[]): Promise<void> {
  if (leases.length === 0) return;
  await sql`update model_endpoint set load_lease_until = now() + ${LEASE}::interval
    where load_lease = any(${leases}::uuid[])`.execute(db);
}

type Claimed = { id: number; workspace_id: number; load_lease: string };

async function claimLoads({ db, streams }: Context): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`update model_endpoint set load_lease = gen_random_uuid(),
      load_lease_until = now() + ${LEASE}::interval
    where id in (select id from model_endpoint where load_asked_at is not null and deleted_at is null
        and instance_id = any(${streams.instanceIds()}::int[])
        and (load_lease_until is null or load_lease_until < now())
      order by load_asked_at limit ${MAX_PER_PASS} for update skip locked)
    returning id, workspace_id, load_lease`.execute(db);
  return rows;
}

async function performLoad(
  ctx: Context,
  { id, workspaceId, lease }: { id: number; workspaceId: number; lease: string },
  stopping: AbortSignal,
): Promise<void> {
  const row = await findEndpoint(ctx.db, workspaceId, ['rented', 'self-hosted'], id);
  const outcome = row ? await load(ctx, row, stopping) : {};
  const isOver = !(outcome instanceof Stopped);
  const error = 'error' in outcome ? outcome.error : null;
  await ctx.db
    .updateTable('model_endpoint')
    .set({
      load_lease: null,
      load_lease_until: null,
      ...(isOver && { load_asked_at: null, check_due: sql<Date>`now()` }),
      ...(error !== null && { load_error: error, load_failed_at: sql<Date>`now()` }),
    })
    .where('id', '=', id)
    .where('load_lease', '=', lease)
    .execute();
}

async function load(ctx: Context, row: EndpointView, stopping: AbortSignal): Promise<Stopped | { error?: string }> {
  const signal = AbortSignal.any([AbortSignal.timeout(LOAD_WITHIN_MS), stopping]);
  try {
    await fetchModel(ctx, row, signal);
    return {};
  } catch (error) {
    if (error instanceof Stopped) return error;
    ctx.log.warn({ err: error, endpointId: row.id }, 'an engine could not fetch its model');
    const isKnown = error instanceof EngineError || error instanceof StreamRefused;
    return { error: isKnown ? error.message : text('The engine did not answer in time') };
  }
}

async function fetchModel(ctx: Context, row: EndpointView, signal: AbortSignal): Promise<void> {
  const address = addressOf(ctx, row);
  const template = engineTemplate(row.engine).load;
  // Its container has stopped since, or its engine needs no such request any more: the next check tells.
  if (!address || !template) return;
  const served = servedOf(row);
  const filled = Object.entries(template.body).map(([name, value]) => [name, fillIn(value, served)]);
  const body = { ...Object.fromEntries(filled), stream: false };
  const answer = await askEngine(ctx, address, { method: 'POST', path: template.path, body, signal });
  const said = await readShort(answer, signal);
  const reason = ownReason(jsonOf(said));
  if (reason !== null) throw new EngineError(reason);
  if (answer.statusCode !== 200) throw new EngineError(reasonIn(said, answer.statusCode ?? 0));
}
