import { text } from '@stagi/contract/text.ts';
import { PublicError } from '../http/errors.ts';

export const LINKS_PER_SECOND = 50;

let tokens = LINKS_PER_SECOND;
let refilledAt = 0;

/** Rate limit of new links (token bucket): after a restart of the platform all daemons reconnect at once. */
export async function rateLimitLinks(): Promise<void> {
  const now = Date.now();
  tokens = Math.min(LINKS_PER_SECOND, tokens + ((now - refilledAt) / 1000) * LINKS_PER_SECOND);
  refilledAt = now;
  if (tokens < 1)
    throw new PublicError(503, text('Too many agents are connecting at once'), {
      retryAfter: 1 + Math.ceil(Math.random() * 4),
    });
  tokens -= 1;
}
