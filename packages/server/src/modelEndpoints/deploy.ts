import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { engineTemplate } from '@stagi/contract/engineTemplates.ts';
import { SERVER_WITHIN_MINUTES } from '@stagi/contract/modelEndpoints.ts';
import type { Permission } from '@stagi/contract/permissions.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { volumeRootsOf } from '@stagi/contract/policy.ts';
import { text } from '@stagi/contract/text.ts';
import type { ServerFacts } from '@stagi/perf/onServer.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import { findModel } from '../catalogue/find.ts';
import { requireManagement, visibleServer } from '../containers/access.ts';
import { allocatedOn } from '../containers/capacity.ts';
import { createContainers } from '../containers/create.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, PublicError } from '../http/errors.ts';
import { rent } from '../instances/rent.ts';
import { findAvailableOffer, type RentableOffer } from '../marketplace/offers.ts';
import { chosenContext, chosenFile, chosenGpuCount } from './chosenFile.ts';
import { containerForm, newKey, type WantedContainer, wantedContainer } from './container.ts';

export type Caller = Context & {
  user: { id: number };
  workspace: { id: number; permissions: readonly Permission[] } & WorkspacePlan;
};
type Input = ParsedInputOf<typeof api.modelEndpoints.deploy>;

/** What is looked up before the transaction. */
export interface Prepared {
  model: CatalogueEntry;
  offer: RentableOffer | null;
}

export async function prepareDeployment(ctx: Context, { modelRef, rent: rented }: Input): Promise<Prepared> {
  const model = await findModel(ctx, modelRef);
  return { model, offer: rented ? await findAvailableOffer(ctx, rented.offerId) : null };
}

/**
 * Stores a served model: its container is made at once, or once the server that is rented for it is online. Returns the
 * endpoint's id.
 */
export function deployModel(ctx: Caller, input: Input, { model, offer }: Prepared): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    const caller = { ...ctx, db: trx };
    const template = engineTemplate(input.template);
    const file = chosenFile(model, input);
    const context = chosenContext(model, input);
    const server = input.instanceRef ? await knownServer(caller, input.instanceRef) : offeredServer(offer);
    const gpus = server ? chosenGpuCount(model, file, input, server.facts, context) : 0;
    const key = template.keyVariable === null ? null : newKey();
    const served = { repository: file.repository, variant: file.variant, context, gpus };
    const wanted = wantedContainer(template, { ...input, ...asked(input) }, served, {
      onCpu: gpus === 0 && template.image.cpu !== null,
      key,
    });
    const instanceId = server?.id ?? (await rentFor(caller, input, offer));
    const { id } = await trx
      .insertInto('model_endpoint')
      .values({
        workspace_id: ctx.workspace.id,
        title: input.title,
        model_id: model.entry.id,
        model_title: model.entry.name,
        quality: file.quality,
        precision: file.precision,
        repository: file.repository,
        variant: file.variant,
        engine: template.name,
        gpu_count: gpus,
        context,
        host_port: input.port,
        container_port: template.port,
        instance_id: instanceId,
        wanted_sealed: '',
        server_deadline: sql<Date>`now() + ${`${SERVER_WITHIN_MINUTES} minutes`}::interval`,
        created_by: ctx.user.id,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await trx
      .updateTable('model_endpoint')
      .set({
        wanted_sealed: ctx.secrets.seal(JSON.stringify(wanted), wantedPlace(id)),
        key_sealed: key && ctx.secrets.seal(key, keyPlace(id)),
      })
      .where('id', '=', id)
      .execute();
    if (input.instanceRef) await makeContainer(caller, { id, instanceId }, wanted);
    await announce(trx, 'changed', { entity: 'model', id, workspaceId: ctx.workspace.id });
    return id;
  });
}

export const wantedPlace = (id: number): string => `model_endpoint|wanted|${id}`;
export const keyPlace = (id: number): string => `model_endpoint|key|${id}`;

/** Makes the container of an endpoint whose server is online, in the transaction of `ctx.db`. */
export async function makeContainer(
  ctx: Pick<Caller, keyof Context | 'user' | 'workspace'>,
  { id, instanceId }: { id: number; instanceId: number },
  wanted: WantedContainer,
): Promise<void> {
  const gpuIds = await freeGpus(ctx.db, instanceId, wanted.gpuCount);
  const form = containerForm(wanted, { instanceId, gpuIds, volumeRoots: await volumeRootsAt(ctx.db, instanceId) });
  const [container] = await createContainers(ctx, form).catch(atTheFormsField);
  await ctx.db
    .updateTable('model_endpoint')
    .set({ container_id: container!.id, wanted_sealed: null, server_deadline: null })
    .where('id', '=', id)
    .execute();
}

async function volumeRootsAt(db: Db, instanceId: number): Promise<readonly string[]> {
  const server = await db
    .selectFrom('instance')
    .leftJoin('daemon_node', 'daemon_node.instance_id', 'instance.id')
    .select(['instance.kind', 'daemon_node.facts'])
    .where('instance.id', '=', instanceId)
    .executeTakeFirstOrThrow();
  return volumeRootsOf(server);
}

/** GPUs that no container holds. The server is locked when the container is made, which checks them again. */
async function freeGpus(db: Db, instanceId: number, count: number): Promise<number[]> {
  if (count === 0) return [];
  const node = await db
    .selectFrom('daemon_node')
    .select('facts')
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  const held = (await allocatedOn(db, [instanceId])).get(instanceId)?.gpuIds ?? [];
  const free = (node?.facts?.gpus ?? []).map(({ index }) => index).filter((index) => !held.includes(index));
  if (free.length < count) throw invalid(text('The server has too few free GPUs'), 'gpuCount');
  return free.slice(0, count);
}

async function knownServer(ctx: Caller, ref: NonNullable<Input['instanceRef']>) {
  const { id, kind } = await visibleServer(ctx, ref);
  requireManagement(ctx, kind);
  const node = await ctx.db.selectFrom('daemon_node').select('facts').where('instance_id', '=', id).executeTakeFirst();
  if (!node?.facts)
    throw invalid(text('Containers can only be created for server instances that are online'), 'instanceRef');
  const { gpus, ramBytes } = node.facts;
  const facts: ServerFacts = {
    ramBytes,
    gpus: gpus.map(({ name, memoryMb }) => ({ name, memoryGb: memoryMb / 1024 })),
  };
  return { id, facts };
}

function offeredServer(found: RentableOffer | null): { id: null; facts: ServerFacts } | null {
  if (!found) return null;
  const { gpu, ramGb } = found.offer;
  const one = gpu && { name: gpu.name, memoryGb: gpu.memoryGb };
  return {
    id: null,
    facts: { ramBytes: ramGb * 2 ** 30, gpus: one ? Array.from({ length: gpu.count }, () => one) : [] },
  };
}

/** Throws what renting throws, at the fields below `rent`. */
async function rentFor(ctx: Caller, input: Input, offer: RentableOffer | null): Promise<number> {
  requireManagement(ctx, 'rented');
  return rent(ctx, input.rent!, offer).catch((error: unknown) => {
    throw renamed(error, (field) => `rent.${field}`);
  });
}

/** The container's form has a list of ports, and its GPUs one by one. */
function atTheFormsField(error: unknown): never {
  throw renamed(error, (field) => {
    if (field.startsWith('portMappings')) return 'port';
    return field === 'gpuIds' ? 'gpuCount' : field;
  });
}

function renamed(error: unknown, name: (field: string) => string): unknown {
  if (!(error instanceof PublicError)) return error;
  const { fieldsWithError, fieldMessages, message, template = message, values, code } = error.body;
  return new PublicError(error.status, template, {
    code,
    values,
    ...(fieldsWithError && { fieldsWithError: fieldsWithError.map(name) }),
    ...(fieldMessages && {
      fieldMessages: Object.fromEntries(Object.entries(fieldMessages).map(([field, said]) => [name(field), said])),
    }),
  });
}

const asked = ({ dockerImage, command, memoryGb, token }: Input) => ({
  dockerImage,
  command: command?.trim() ? command : undefined,
  memoryGb,
  token: token || undefined,
});
