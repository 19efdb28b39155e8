import { BODY_LIMIT } from '@stagi/contract/call.ts';
import type { onRequestAsyncHookHandler } from 'fastify';
import { authenticate } from '../auth/authenticate.ts';
import type { Context } from '../context.ts';
import { unauthenticated, unavailable } from './errors.ts';

/** Bytes of large bodies that may lie in memory at once. */
const BUDGET = 48 * 1024 * 1024;

/**
 * For calls that take more than the others: a large body is read for signed-in callers only, and only while all of
 * them together stay small enough for the memory of the process.
 */
export function guardLargeBodies(context: Context, bodyLimit: number): onRequestAsyncHookHandler {
  let held = 0;
  return async (request, reply) => {
    const declared = Number(request.headers['content-length']);
    // Without a length it may become as large as the call allows.
    const bytes = Number.isFinite(declared) ? Math.min(declared, bodyLimit) : bodyLimit;
    if (bytes <= BODY_LIMIT) return;
    const found = await authenticate(context, request.headers.authorization, request.ip);
    // No call that takes one is for tokens.
    if (found?.credential.kind !== 'session') throw unauthenticated();
    if (held + bytes > BUDGET) throw unavailable();
    held += bytes;
    reply.raw.once('close', () => {
      held -= bytes;
    });
  };
}
