import { LogSource, type TailMessage } from '@stagi/contract/logging.ts';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { notFound } from '../http/errors.ts';
import { mountStream } from '../sessions/stream.ts';
import type { StreamOwner } from '../sessions/streamTicket.ts';
import { followLog } from './followLog.ts';
import { containerOf } from './source.ts';

const Numbers = z.looseObject({ id: z.coerce.number(), run: z.coerce.number().optional() });
const TailQuery = Numbers.pipe(LogSource).and(z.object({ after: z.coerce.number().int().min(0).optional() }));
type TailQuery = z.infer<typeof TailQuery>;

/** What a stream reads: its container is known before it opens. */
interface Opened {
  containerId: number;
  after: number | undefined;
}

/** `WS /frontend-api/logging/tail`: the lines after a line number, then new ones, each exactly once and in order. */
export function mountLogTail(app: FastifyInstance, ctx: Context): void {
  mountStream<TailQuery, Opened, TailMessage>(app, ctx, 'logging/tail', {
    query: TailQuery,
    async authorize(owner, query) {
      const containerId = await containerOf(scopeOf(ctx, owner), query);
      if (containerId === null) throw notFound();
      return { containerId, after: query.after };
    },
    serve(stream, source) {
      const { containerId, after } = source();
      return followLog({ bus: ctx.bus, db: scopeOf(ctx, stream.owner).db }, containerId, after, {
        send: stream.send,
        bufferedBytes: stream.bufferedBytes,
        onError(error) {
          ctx.log.warn({ err: error, containerId }, 'log tail ended');
          stream.close('tryAgain');
        },
      });
    },
  });
}

const scopeOf = (ctx: Context, { workspace }: StreamOwner) => ({ db: ctx.within(workspace.id), workspace });
