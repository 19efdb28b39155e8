import type { api } from '@stagi/contract/api.ts';
import { gpus } from '@stagi/perf/catalogueFiles.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import { readCatalogue } from './catalogue.ts';
import { findModel, presentModel } from './find.ts';
import { fitModel } from './fit.ts';
import { facetsOf, listModels } from './list.ts';

/** By address: ranking thousands of offers takes a tenth of a second. */
const fitLimit = createRateLimiter({ points: 120, duration: 60 });

export const modelHandlers: HandlersOf<typeof api.models> = {
  list: async (ctx, input) => listModels(await readCatalogue(ctx), input),
  facets: async (ctx) => facetsOf(await readCatalogue(ctx)),
  view: async (ctx, ref) => ({ isSuccess: true, entity: presentModel(await findModel(ctx, ref)) }),
  gpus: async () => ({ isSuccess: true, entities: gpus }),
  async fit(ctx, input) {
    await consumePoint(fitLimit(ctx), ctx.ip);
    return fitModel(ctx, input);
  },
};
