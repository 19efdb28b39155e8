import { engineTemplate } from '@stagi/contract/engineTemplates.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { StreamRefused } from '../nodes/streamHub.ts';
import { askEngine, type EngineAddress, EngineError, readShort } from './ask.ts';
import { keyPlace } from './deploy.ts';
import { lastLineOf } from './lastLine.ts';
import type { EndpointView } from './queries.ts';
import { modelNameOf } from './served.ts';
import { hasEnded, stateOf } from './state.ts';

const ANSWER_WITHIN_MS = 5_000;

/** Where the engine of an endpoint listens; null while its container does not run. */
export function addressOf({ secrets }: Pick<Context, 'secrets'>, row: EndpointView): EngineAddress | null {
  if (row.container?.status !== 'running') return null;
  return {
    instanceId: row.instance_id,
    containerId: row.container.id,
    port: row.container_port,
    key: row.key_sealed && secrets.open(row.key_sealed, keyPlace(row.id)),
  };
}

/**
 * Asks the engine whether it serves its model, and writes down what it answers and when it is asked next. Asks nothing
 * while its container does not run. Returns whether the engine is to fetch its model (`load.ts`).
 */
export async function checkEndpoint(ctx: Context, db: Db, row: EndpointView): Promise<boolean> {
  const address = addressOf(ctx, row);
  const answer = address && (await ask(ctx, address, row));
  const seen = {
    ...(hasEnded(row) && { last_line: await lastLineOf(db, row.container!.id) }),
    ...(answer && {
      checked_at: new Date(),
      check_error: answer.error,
      ...(answer.error === null && { answered_at: new Date(), load_error: null, load_failed_at: null }),
    }),
  };
  const now = { ...row, ...seen };
  const { status } = stateOf(now);
  const toLoad = answer?.lacksModel === true && isLoadDue(row);
  const changed = await db
    .updateTable('model_endpoint')
    .set({
      ...seen,
      // By the clock of the database, as the times that they are compared with.
      ...(answer && { checked_at: sql<Date>`now()` }),
      ...(answer?.error === null && { answered_at: sql<Date>`now()` }),
      ...(toLoad && { load_asked_at: sql<Date>`coalesce(load_asked_at, now())` }),
      announced_status: status,
      check_due: sql<Date>`now() + ${`${nextCheckInMs(now, status)} milliseconds`}::interval`,
    })
    .where('id', '=', row.id)
    .where('container_id', '=', row.container_id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  const isNews =
    status !== row.announced_status || now.check_error !== row.check_error || now.last_line !== row.last_line;
  if (changed && isNews) await announce(db, 'changed', { entity: 'model', id: row.id, workspaceId: row.workspace_id });
  return toLoad;
}

export async function checkSoon(db: Db, id: number): Promise<void> {
  await db.updateTable('model_endpoint').set({ check_due: sql<Date>`now()` }).where('id', '=', id).execute();
}

interface Answer {
  /** Null: it serves. Else why not, in words for people. */
  error: string | null;
  /** It answers, and does not have its model. */
  lacksModel: boolean;
}

async function ask(ctx: Context, address: EngineAddress, row: EndpointView): Promise<Answer> {
  const template = engineTemplate(row.engine);
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const not = (error: string): Answer => ({ error, lacksModel: false });
  try {
    const answer = await askEngine(ctx, address, { method: 'GET', path: template.healthPath, signal });
    await readShort(answer, signal);
    if (answer.statusCode === 503) return not(text('The engine is loading its model'));
    if (answer.statusCode !== 200)
      return not(text('The engine answers its health check with {{status}}', { status: answer.statusCode ?? 0 }));
    if (!template.load || (await hasModel(ctx, address, modelNameOf(row), signal)))
      return { error: null, lacksModel: false };
    return { error: whileLoading(row), lacksModel: true };
  } catch (error) {
    if (error instanceof StreamRefused || error instanceof EngineError) return not(error.message);
    if (signal.aborted) return not(text('The engine did not answer within 5 s'));
    throw error;
  }
}

async function hasModel(ctx: Context, address: EngineAddress, name: string, signal: AbortSignal): Promise<boolean> {
  const answer = await askEngine(ctx, address, { method: 'GET', path: '/v1/models', signal });
  const said = await readShort(answer, signal);
  return answer.statusCode === 200 && said.includes(JSON.stringify(name));
}

function whileLoading({ load_error }: EndpointView): string {
  return load_error === null
    ? text('The engine is fetching its model')
    : text('The engine could not fetch its model: {{cause}}', { cause: load_error });
}

/** A load that failed is tried again after a while. */
const LOAD_AGAIN_AFTER_MS = 15_000;

function isLoadDue({ load_failed_at: failed }: EndpointView): boolean {
  return failed === null || Date.now() - failed.getTime() > LOAD_AGAIN_AFTER_MS;
}

const SOON_MS = 3_000;
const LATER_MS = 15_000;
const READY_MS = 30_000;
const LATE_MS = 60_000;
/** A change of its container brings the next look at once. */
const AT_REST_MS = 10 * 60_000;
/** So long after a change of its container it is asked often: then the next change is near. */
const NEAR_MS = 5 * 60_000;

function nextCheckInMs({ container }: EndpointView, status: string): number {
  const since =
    container?.status === 'running' ? (container.started_at ?? container.status_since) : container?.status_since;
  const isNear = since !== undefined && Date.now() - Date.parse(since) < NEAR_MS;
  // The last lines of a container may come after the word that it has ended.
  if (container?.status !== 'running') return isNear ? SOON_MS : AT_REST_MS;
  if (status === 'ready') return READY_MS;
  if (isNear) return SOON_MS;
  return status === 'failed' ? LATE_MS : LATER_MS;
}
