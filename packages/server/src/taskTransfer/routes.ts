import {
  TASK_INPUT_PATH,
  TASK_OUTPUT_BEGIN_PATH,
  TASK_OUTPUT_COMPLETE_PATH,
  TASK_OUTPUT_LINKS_PATH,
  TASK_OUTPUT_PARTS_PATH,
  TASK_SOURCE_PATH,
  TaskInputPage,
  TaskInputRequest,
  TaskOutputLinks,
  TaskOutputLinksRequest,
  TaskUpload,
  TaskUploadBegin,
  TaskUploadComplete,
  TaskUploadParts,
  TaskUploadPartsRequest,
} from '@stagi/contract/taskTransfer.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { badInput, PublicError } from '../http/errors.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import { inputPage } from './input.ts';
import { type OpenRun, openRun } from './openRun.ts';
import { beginUpload, completeOutput, outputLinks, uploadParts } from './output.ts';
import { createSources } from './source.ts';

const ANSWER_WITHIN_MS = 30_000;
/** An output of 10,000 files takes 100 requests, or 30,000 when each is larger than 64 MiB. */
const requestsOfRun = createRateLimiter({ points: 1_200, duration: 60 });

/** What daemons call for the runs of tasks on their servers (`contract/src/taskTransfer.ts`). */
export function mountTaskTransfer(app: FastifyInstance, ctx: Context): void {
  const sources = createSources(ctx);
  app.addHook('preClose', () => sources.stop());

  async function runOf({ headers }: FastifyRequest): Promise<OpenRun> {
    const run = await openRun(ctx, headers.authorization);
    await consumePoint(requestsOfRun(ctx), run.id);
    return run;
  }

  app.get(TASK_SOURCE_PATH, { exposeHeadRoute: false }, async (request, reply) =>
    sources.send(await runOf(request), request, reply),
  );

  function answer<I extends z.ZodType, O extends z.ZodType>(
    path: string,
    { input, output }: { input: I; output: O },
    handle: (ctx: Context, run: OpenRun, given: z.output<I>) => Promise<z.input<O>>,
  ): void {
    app.post(path, { handlerTimeout: ANSWER_WITHIN_MS }, async (request) => {
      const run = await runOf(request);
      const parsed = input.safeParse(request.body ?? {});
      // The same body again would be refused again.
      if (!parsed.success) throw new PublicError(422, badInput(parsed.error).message);
      return output.parse(await handle(ctx, run, parsed.data));
    });
  }

  answer(TASK_INPUT_PATH, { input: TaskInputRequest, output: TaskInputPage }, inputPage);
  answer(TASK_OUTPUT_LINKS_PATH, { input: TaskOutputLinksRequest, output: TaskOutputLinks }, outputLinks);
  answer(TASK_OUTPUT_BEGIN_PATH, { input: TaskUploadBegin, output: TaskUpload }, beginUpload);
  answer(TASK_OUTPUT_PARTS_PATH, { input: TaskUploadPartsRequest, output: TaskUploadParts }, uploadParts);
  answer(TASK_OUTPUT_COMPLETE_PATH, { input: TaskUploadComplete, output: z.object({}) }, completeOutput);
}
