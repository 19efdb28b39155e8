import type { Call } from '@stagi/contract/call.ts';
import type { onRequestAsyncHookHandler } from 'fastify';
import type { Context } from '../context.ts';
import { unauthenticated } from '../http/errors.ts';
import { goneOf } from '../http/gone.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import { authenticate } from '../sessions/authenticate.ts';
import type { KnownCallers } from '../sessions/knownCallers.ts';
import { asPerson } from '../slots/holder.ts';

/** Kilobytes of a person in 10 s: parsing stands the process still for about a hundredth of a second for each 1,024. */
const kilobytes = createRateLimiter({ points: 64 * 1024, duration: 10 });

/**
 * A large body is read for signed-in callers only, not for a call that would be refused anyway, and only while all of
 * them together fit into the memory that is kept for them; the others wait in turn.
 */
export function guardLargeBodies(
  context: Context,
  { byToken, streamed }: Call,
  { bodyLimit, smallBody, callers }: { bodyLimit: number; smallBody: number; callers: KnownCallers },
): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const { 'content-length': declared = 0, 'transfer-encoding': coding } = request.headers;
    // In chunks it may be as large as the call allows.
    const bytes = coding === undefined ? Math.min(Number(declared), bodyLimit) : bodyLimit;
    if (bytes <= smallBody) return;
    const calls = streamed ? context.slots.streamedCalls : context.slots.calls;
    const seeming = await callers.holderOf(request.headers.authorization);
    if (seeming) calls.requireChance(seeming);
    const found = await authenticate(context, request.headers.authorization, request.ip);
    if (!found || (found.credential.kind === 'token' && !byToken)) throw unauthenticated();
    const holder = asPerson(found.user.id, null);
    calls.requireChance(holder);
    await consumePoint(kilobytes(context), holder.key, Math.ceil(bytes / 1024));
    const signal = goneOf(reply.raw);
    const release = await context.slots.largeBodies.take(holder, { weight: bytes, signal });
    reply.raw.once('close', release);
  };
}
