import type { api } from '@stagi/contract/api.ts';
import type { Ref } from '@stagi/contract/page.ts';
import { limitsOf } from '@stagi/contract/planLimits.ts';
import { GB, MICRO_PER_GB_MONTH } from '@stagi/contract/storageRules.ts';
import { presentPrice } from '../billing/price.ts';
import type { Context } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { deleteStorage, editStorage } from './change.ts';
import { createStorage } from './create.ts';
import { listStorages, viewStorage } from './find.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { presign, presignDownload } from './links.ts';
import { locationsOf } from './locations.ts';
import { abortMultipart, beginMultipart, completeMultipart, openMultiparts, partLinks } from './multipart.ts';
import { deleteSomeObjects, listOfObjects } from './objects.ts';
import { presentStorage } from './present.ts';
import { planUse } from './quota.ts';
import { usageOverTime } from './usageSamples.ts';

const isSuccess = true as const;

export const storageHandlers: HandlersOf<typeof api.storages> = {
  async list(ctx, { entityFilterRequest, kind }) {
    const { rows, count, isMore } = await listStorages(ctx.db, ctx.workspace.id, entityFilterRequest, kind);
    return pageOf(
      rows.map((row) => presentStorage(ctx, row)),
      count,
      entityFilterRequest,
      isMore,
    );
  },
  view: (ctx, ref) => one(ctx, ref),
  async form(ctx) {
    return {
      isSuccess,
      locations: locationsOf(ctx.config),
      pricePerGbMonth: presentPrice(ctx.config, MICRO_PER_GB_MONTH),
      planGb: limitsOf(ctx.workspace).storageGb,
      usedGb: Number(await planUse(ctx.db, ctx.workspace)) / GB,
    };
  },
  async create(ctx, input) {
    return one(ctx, { id: await createStorage(ctx, input) });
  },
  async edit(ctx, input) {
    await editStorage(ctx, input);
    return one(ctx, { id: input.id });
  },
  async delete(ctx, input) {
    await deleteStorage(ctx, input);
    return one(ctx, { id: input.id });
  },
  async usage(ctx, { id, from, to }) {
    const storage = await viewStorage(ctx.db, ctx.workspace.id, { id });
    const points = await usageOverTime(ctx.db, storage.id, { from, to });
    return {
      isSuccess,
      points: points.map(({ at, used_bytes, object_count }) => ({
        at: at.toISOString(),
        usedBytes: Number(used_bytes),
        objectCount: Number(object_count),
      })),
    };
  },

  async keys(ctx, { id, entityFilterRequest }) {
    const storage = await viewStorage(ctx.db, ctx.workspace.id, { id });
    const { rows, count } = await listKeys(ctx.db, storage, entityFilterRequest);
    return pageOf(rows, count, entityFilterRequest);
  },
  async createKey(ctx, input) {
    return { isSuccess, entity: await createKey(ctx, input) };
  },
  async rotateKey(ctx, input) {
    return { isSuccess, entity: await rotateKey(ctx, input) };
  },
  async revokeKey(ctx, input) {
    await revokeKey(ctx, input);
    return { isSuccess };
  },

  async objects(ctx, input) {
    return { isSuccess, ...(await listOfObjects(ctx, input)) };
  },
  async uploadLink(ctx, { id, key }) {
    const { links, expiresAt } = await presign(ctx, id, [{ method: 'PUT', key }]);
    return { isSuccess, link: links[0]!, expiresAt };
  },
  async downloadLink(ctx, { id, ...wanted }) {
    return { isSuccess, ...(await presignDownload(ctx, id, wanted)) };
  },
  async deleteObjects(ctx, input) {
    return { isSuccess, ...(await deleteSomeObjects(ctx, input)) };
  },

  async beginMultipart(ctx, input) {
    return { isSuccess, ...(await beginMultipart(ctx, input)) };
  },
  async multipartPartLinks(ctx, input) {
    return { isSuccess, ...(await partLinks(ctx, input)) };
  },
  async openMultiparts(ctx, input) {
    return { isSuccess, ...(await openMultiparts(ctx, input)) };
  },
  async completeMultipart(ctx, input) {
    return { isSuccess, ...(await completeMultipart(ctx, input)) };
  },
  async abortMultipart(ctx, input) {
    await abortMultipart(ctx, input);
    return { isSuccess };
  },
};

async function one(ctx: Context & { workspace: { id: number } }, ref: Ref) {
  return { isSuccess, entity: presentStorage(ctx, await viewStorage(ctx.db, ctx.workspace.id, ref)) };
}
