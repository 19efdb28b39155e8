import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FairSlots } from './fairSlots.ts';
import type { Holder } from './holder.ts';
import { leastRate } from './leastRate.ts';

/**
 * Holds a slot until the answer is sent or its client has gone, and cuts a client that sends or reads too slowly. Throws
 * 429 or 503 when there is no slot.
 */
export function holdForAnswer(
  { raw: request }: FastifyRequest,
  { raw: response }: FastifyReply,
  slots: FairSlots,
  holder: Holder,
): void {
  const release = slots.enter(holder);
  const { socket } = request;
  // Not `destroy`: the system would still deliver what it holds in the buffer of the socket.
  const unwatch = leastRate.watchRequest(request, response, () => socket.resetAndDestroy());
  const end = (): void => {
    unwatch();
    release();
  };
  if (response.destroyed) end();
  else response.once('close', end);
}
