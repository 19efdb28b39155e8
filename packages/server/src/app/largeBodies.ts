import { BODY_LIMIT, type Call } from '@stagi/contract/call.ts';
import type { onRequestAsyncHookHandler } from 'fastify';
import type { Context } from '../context.ts';
import { unauthenticated, unavailable } from '../http/errors.ts';
import { authenticate } from '../sessions/authenticate.ts';

/** Bytes of large bodies that may be in memory at once. */
const BUDGET = 48 * 1024 * 1024;

/**
 * For calls with a higher body limit: a large body is read for signed-in callers only, and only while all of them
 * together fit the memory budget.
 */
export function guardLargeBodies(context: Context, { byToken }: Call, bodyLimit: number): onRequestAsyncHookHandler {
  let held = 0;
  return async (request, reply) => {
    const declared = Number(request.headers['content-length']);
    // Without Content-Length it may be as large as the call allows.
    const bytes = Number.isFinite(declared) ? Math.min(declared, bodyLimit) : bodyLimit;
    if (bytes <= BODY_LIMIT) return;
    const found = await authenticate(context, request.headers.authorization, request.ip);
    if (!found || (found.credential.kind === 'token' && !byToken)) throw unauthenticated();
    if (held + bytes > BUDGET) throw unavailable();
    held += bytes;
    reply.raw.once('close', () => {
      held -= bytes;
    });
  };
}
