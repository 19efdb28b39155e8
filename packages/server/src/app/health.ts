import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { unavailable } from '../http/errors.ts';

/** A load balancer waits no longer for an answer. */
const READY_TIMEOUT_MS = 2_000;

/** `/healthz` (liveness): the process runs. `/readyz` (readiness): it reaches its database; always answers in time. */
export function mountHealth(app: FastifyInstance, ctx: Pick<Context, 'db'>): void {
  let asking: Promise<unknown> | null = null;

  app.get('/healthz', () => ({ isSuccess: true }));
  app.get('/readyz', async () => {
    // All probes share one connection.
    asking ??= sql`select 1`.execute(ctx.db).finally(() => {
      asking = null;
    });
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(unavailable()), READY_TIMEOUT_MS);
    try {
      await Promise.race([asking, late]);
    } finally {
      clearTimeout(timer);
    }
    return { isSuccess: true };
  });
}
