import { LogSource, type TailMessage } from '@stagi/contract/logging.ts';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { visibleContainer } from '../containers/access.ts';
import type { Context } from '../context.ts';
import { mountStream } from '../sessions/stream.ts';
import type { StreamOwner } from '../sessions/streamTicket.ts';
import { followLog } from './followLog.ts';

const TailQuery = z.object({
  type: LogSource.shape.type,
  id: z.coerce.number().pipe(LogSource.shape.id),
  after: z.coerce.number().int().min(0).optional(),
});
type TailQuery = z.infer<typeof TailQuery>;

/** `WS /frontend-api/logging/tail`: the lines after a line number, then new ones, each exactly once and in order. */
export function mountLogTail(app: FastifyInstance, ctx: Context): void {
  mountStream<TailQuery, TailQuery, TailMessage>(app, ctx, 'logging/tail', {
    query: TailQuery,
    async authorize(owner, query) {
      await visibleContainer(scopeOf(ctx, owner), { id: query.id });
      return query;
    },
    serve(stream, source) {
      const { id: containerId, after } = source();
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
