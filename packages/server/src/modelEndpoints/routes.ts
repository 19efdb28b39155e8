import type { Readable } from 'node:stream';
import type { api } from '@stagi/contract/api.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { text } from '@stagi/contract/text.ts';
import { findModel } from '../catalogue/find.ts';
import { requireManagement, visibleKinds } from '../containers/access.ts';
import type { Context } from '../context.ts';
import { notFound, refused } from '../http/errors.ts';
import { type HandlersOf, type Member, prepareOutsideTransaction } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { checkEndpoint, checkSoon } from './check.ts';
import { deployModel, keyPlace, type Prepared, prepareDeployment } from './deploy.ts';
import { presentEndpoint } from './present.ts';
import { type EndpointView, findEndpoint, listEndpoints } from './queries.ts';
import { removeEndpoint } from './remove.ts';
import { runModel } from './run.ts';

export const modelEndpointHandlers: HandlersOf<typeof api.modelEndpoints> = {
  deploy: prepareOutsideTransaction<typeof api.modelEndpoints.deploy, Prepared>(
    (ctx, input) => prepareDeployment(ctx, input),
    async (ctx, input, prepared) => one(ctx, await deployModel(ctx, input, prepared)),
  ),
  async list(ctx, { modelRef, entityFilterRequest }) {
    const kinds = visibleKinds(ctx.workspace.permissions);
    const modelId = modelRef && ('id' in modelRef ? modelRef.id : (await findModel(ctx, modelRef)).entry.id);
    const { rows, count } = await listEndpoints(ctx.db, ctx.workspace.id, kinds, modelId, entityFilterRequest);
    return pageOf(rows.map(presentEndpoint), count, entityFilterRequest);
  },
  view: (ctx, { id }) => one(ctx, id),
  async check(ctx, { id }) {
    const row = await visibleEndpoint(ctx, id);
    // Another process holds the link of its server, or none does yet: the next one that does asks at once.
    if (ctx.streams.instanceIds().includes(row.instance_id)) await checkEndpoint(ctx, ctx.db, row);
    else await checkSoon(ctx.db, id);
    return one(ctx, id);
  },
  async delete(ctx, { id }) {
    await removeEndpoint(ctx, id);
    return { isSuccess: true };
  },
  async revealKey(ctx, { id }) {
    const row = await visibleEndpoint(ctx, id);
    requireManagement(ctx, row.server_kind);
    if (row.key_sealed === null) throw refused(text('Its API has no key'));
    return { isSuccess: true, key: ctx.secrets.open(row.key_sealed, keyPlace(row.id)) };
  },
  run: {
    // Streams are no transactions: what is asked of an engine is not written down.
    prepare: async (ctx: Member, input, gone) =>
      runModel(ctx, ctx as Context, await visibleEndpoint(ctx, input.endpointRef.id), input, gone),
    act: async (_ctx, _input, lines) => lines as Readable as never,
  },
};

async function visibleEndpoint(ctx: Member, id: number): Promise<EndpointView> {
  const row = await findEndpoint(ctx.db, ctx.workspace.id, visibleKinds(ctx.workspace.permissions), id);
  if (!row) throw notFound();
  return row;
}

async function one(ctx: Member, id: number): Promise<{ isSuccess: true; entity: ModelEndpoint }> {
  return { isSuccess: true, entity: presentEndpoint(await visibleEndpoint(ctx, id)) };
}
