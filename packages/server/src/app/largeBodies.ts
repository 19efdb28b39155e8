import type { Call } from '@stagi/contract/call.ts';
import type { onRequestAsyncHookHandler } from 'fastify';
import type { Context } from '../context.ts';
import { unauthenticated } from '../http/errors.ts';
import { goneOf } from '../http/gone.ts';
import { authenticate } from '../sessions/authenticate.ts';
import { asPerson } from '../slots/holder.ts';

/**
 * A large body is read for signed-in callers only, and only while all of them together fit into the memory that is kept
 * for them; the others wait in turn.
 */
export function guardLargeBodies(
  context: Context,
  { byToken }: Call,
  { bodyLimit, smallBody }: { bodyLimit: number; smallBody: number },
): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const { 'content-length': declared = 0, 'transfer-encoding': coding } = request.headers;
    // In chunks it may be as large as the call allows.
    const bytes = coding === undefined ? Math.min(Number(declared), bodyLimit) : bodyLimit;
    if (bytes <= smallBody) return;
    const found = await authenticate(context, request.headers.authorization, request.ip);
    if (!found || (found.credential.kind === 'token' && !byToken)) throw unauthenticated();
    const signal = goneOf(reply.raw);
    const release = await context.slots.largeBodies.take(asPerson(found.user.id, null), { weight: bytes, signal });
    reply.raw.once('close', release);
  };
}
