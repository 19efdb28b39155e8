import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { unavailable } from './errors.ts';

/** A balancer does not wait longer for a word. */
const PATIENCE_MS = 2_000;

/** `/healthz`: this process runs. `/readyz`: it reaches its database; answered in time even when that is overwhelmed. */
export function mountHealth(app: FastifyInstance, ctx: Pick<Context, 'db'>): void {
  let asking: Promise<unknown> | null = null;

  app.get('/healthz', () => ({ isSuccess: true }));
  app.get('/readyz', async () => {
    // However many ask: one connection.
    asking ??= sql`select 1`.execute(ctx.db).finally(() => {
      asking = null;
    });
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(unavailable()), PATIENCE_MS);
    try {
      await Promise.race([asking, late]);
    } finally {
      clearTimeout(timer);
    }
    return { isSuccess: true };
  });
}
