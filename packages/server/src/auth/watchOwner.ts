import type { Context } from '../context.ts';
import type { StreamOwner } from './streamTicket.ts';

const RECHECK_MS = 30_000;
/** After words were missed every stream looks again, each at a moment of its own. */
const SPREAD_MS = 1_000;

/**
 * Has an open stream look at its owner again: now, as what ended between its ticket and here was told to nobody; when
 * something of theirs ends; when such words may have been missed; and now and then. A look that fails is repeated until
 * it has an answer: while the database is away nothing can end, and the stream need not.
 */
export function watchOwner(
  { bus, log }: Pick<Context, 'bus' | 'log'>,
  owner: StreamOwner,
  look: () => Promise<unknown>,
): () => void {
  const late = new Set<NodeJS.Timeout>();
  let ended = false;
  const stop = [
    bus.subscribe('access', ({ userId }) => {
      if (userId === owner.user.id) lookNow();
    }),
    bus.subscribe('missed', lookSoon),
  ];
  const now = setInterval(lookNow, RECHECK_MS);
  lookNow();
  return () => {
    ended = true;
    clearInterval(now);
    for (const timer of late) clearTimeout(timer);
    for (const end of stop) end();
  };

  function lookNow(): void {
    look().catch((error: unknown) => {
      log.warn({ err: error }, 'the owner of a stream cannot be looked at; trying again');
      lookSoon();
    });
  }

  function lookSoon(): void {
    if (ended) return;
    const timer = setTimeout(() => {
      late.delete(timer);
      lookNow();
    }, Math.random() * SPREAD_MS);
    late.add(timer);
  }
}
