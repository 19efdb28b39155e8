import type { Context } from '../context.ts';
import type { StreamOwner } from './streamTicket.ts';

const RECHECK_MS = 30_000;
/** After words were missed every stream looks again, each at a moment of its own. */
const SPREAD_MS = 1_000;

/**
 * Has an open stream look at its owner again: now, as what ended between its ticket and here was told to nobody; when
 * something of theirs ends; when such words may have been missed; and now and then.
 */
export function watchOwner({ bus }: Pick<Context, 'bus'>, owner: StreamOwner, look: () => void): () => void {
  const late = new Set<NodeJS.Timeout>();
  const stop = [
    bus.subscribe('access', ({ userId }) => {
      if (userId === owner.user.id) look();
    }),
    bus.subscribe('missed', () => {
      const timer = setTimeout(() => {
        late.delete(timer);
        look();
      }, Math.random() * SPREAD_MS);
      late.add(timer);
    }),
  ];
  const now = setInterval(look, RECHECK_MS);
  look();
  return () => {
    clearInterval(now);
    for (const timer of late) clearTimeout(timer);
    for (const end of stop) end();
  };
}
