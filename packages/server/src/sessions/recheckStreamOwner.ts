import type { Context } from '../context.ts';
import type { StreamOwner } from './streamTicket.ts';

const RECHECK_MS = 30_000;
/** After a lost bus connection every stream rechecks: spread over this time, so that they do not all ask at once. */
const SPREAD_MS = 1_000;

/**
 * Calls `recheck` of an open stream, which ends the stream if its owner may no longer have it:
 * - now, as access may have been revoked after the ticket was consumed;
 * - when access of its owner is revoked, or when such a message may have been missed;
 * - every `RECHECK_MS`.
 * A failed recheck is retried: while the database is away nothing can be revoked, so the stream stays open.
 */
export function recheckStreamOwner(
  { bus, log }: Pick<Context, 'bus' | 'log'>,
  owner: Pick<StreamOwner, 'user'>,
  recheck: () => Promise<unknown>,
): () => void {
  const retries = new Set<NodeJS.Timeout>();
  let ended = false;
  const stop = [
    bus.subscribe('access', ({ userId }) => {
      if (userId === owner.user.id) recheckNow();
    }),
    bus.subscribe('missed', recheckSoon),
  ];
  const interval = setInterval(recheckNow, RECHECK_MS);
  recheckNow();
  return () => {
    ended = true;
    clearInterval(interval);
    for (const timer of retries) clearTimeout(timer);
    for (const end of stop) end();
  };

  function recheckNow(): void {
    recheck().catch((error: unknown) => {
      log.warn({ err: error }, 'the owner of a stream cannot be looked at; trying again');
      recheckSoon();
    });
  }

  function recheckSoon(): void {
    if (ended) return;
    const timer = setTimeout(() => {
      retries.delete(timer);
      recheckNow();
    }, Math.random() * SPREAD_MS);
    retries.add(timer);
  }
}
