import { engineTemplate, fillIn } from '@stagi/contract/engineTemplates.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { StreamRefused } from '../nodes/streamHub.ts';
import { askEngine, type EngineAddress, EngineError, readShort } from './ask.ts';
import { keyPlace } from './deploy.ts';
import type { EndpointView } from './queries.ts';
import { jsonOf, ownReason, reasonIn } from './reason.ts';
import { modelNameOf, servedOf } from './served.ts';

const ANSWER_WITHIN_MS = 5_000;
/** Engines fetch their model while such a request goes on. */
const LOAD_WITHIN_MS = 60 * 60_000;

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

/** Asks the engine whether it serves its model, and writes the answer down. Asks nothing while its container does not run. */
export async function checkEndpoint(ctx: Context, db: Db, row: EndpointView): Promise<void> {
  const address = addressOf(ctx, row);
  if (!address) return;
  const error = await whatIsWrong(ctx, address, row);
  const changed = await db
    .updateTable('model_endpoint')
    .set({
      checked_at: sql<Date>`now()`,
      check_error: error,
      ...(error === null && { answered_at: sql<Date>`now()` }),
    })
    .where('id', '=', row.id)
    .where('container_id', '=', address.containerId)
    .returning('id')
    .executeTakeFirst();
  const isNews = error !== row.check_error || row.answered_at === null;
  if (changed && isNews) await announce(db, 'changed', { entity: 'model', id: row.id, workspaceId: row.workspace_id });
}

/** Null: it serves. Else why not, in words for people. */
async function whatIsWrong(ctx: Context, address: EngineAddress, row: EndpointView): Promise<string | null> {
  const template = engineTemplate(row.engine);
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    const answer = await askEngine(ctx, address, { method: 'GET', path: template.healthPath, signal });
    await readShort(answer, signal);
    if (answer.statusCode === 503) return text('The engine is loading its model');
    if (answer.statusCode !== 200)
      return text('The engine answers its health check with {{status}}', { status: answer.statusCode ?? 0 });
    return template.load ? await whileLoading(ctx, address, row, signal) : null;
  } catch (error) {
    if (error instanceof StreamRefused || error instanceof EngineError) return error.message;
    if (signal.aborted) return text('The engine did not answer within 5 s');
    throw error;
  }
}

/** Requests that make an engine fetch its model, by endpoint and container. A restart of the platform begins anew. */
const loading = new Map<string, { error: string | null }>();
/** A failure is told to whoever checks next, until then. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;

/** An engine that fetches its model on request: it is asked once, and serves when its list has the model. */
async function whileLoading(
  ctx: Context,
  address: EngineAddress,
  row: EndpointView,
  signal: AbortSignal,
): Promise<string | null> {
  if (await hasModel(ctx, address, modelNameOf(row), signal)) return null;
  const key = `${row.id}/${address.containerId}`;
  const before = loading.get(key);
  if (before && before.error === null) return text('The engine is fetching its model');
  const request: { error: string | null } = { error: null };
  loading.set(key, request);
  fetchModel(ctx, address, row).then(
    () => loading.delete(key),
    (error: unknown) => {
      ctx.log.warn({ err: error, endpointId: row.id }, 'an engine could not fetch its model');
      const isKnown = error instanceof EngineError || error instanceof StreamRefused;
      request.error = isKnown ? error.message : text('The engine did not answer in time');
      setTimeout(() => {
        if (loading.get(key) === request) loading.delete(key);
      }, FORGOTTEN_AFTER_MS).unref();
    },
  );
  return before?.error
    ? text('The engine could not fetch its model: {{cause}}', { cause: before.error })
    : text('The engine is fetching its model');
}

async function fetchModel(ctx: Context, address: EngineAddress, row: EndpointView): Promise<void> {
  const { path, body } = engineTemplate(row.engine).load!;
  const served = servedOf(row);
  const signal = AbortSignal.timeout(LOAD_WITHIN_MS);
  const filled = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, fillIn(value, served)]));
  const answer = await askEngine(ctx, address, { method: 'POST', path, body: { ...filled, stream: false }, signal });
  const said = await readShort(answer, signal);
  const reason = ownReason(jsonOf(said));
  if (reason !== null) throw new EngineError(reason);
  if (answer.statusCode !== 200) throw new EngineError(reasonIn(said, answer.statusCode ?? 0));
}

async function hasModel(ctx: Context, address: EngineAddress, name: string, signal: AbortSignal): Promise<boolean> {
  const answer = await askEngine(ctx, address, { method: 'GET', path: '/v1/models', signal });
  const said = await readShort(answer, signal);
  return answer.statusCode === 200 && said.includes(JSON.stringify(name));
}
