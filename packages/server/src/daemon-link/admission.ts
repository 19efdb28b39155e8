import { PublicError } from '../http/errors.ts';

export const LINKS_A_SECOND = 50;

let left = LINKS_A_SECOND;
let filledAt = 0;

/** Lets so many new links in a second into this process: after a restart all daemons come at once. */
export async function admitLink(): Promise<void> {
  const now = Date.now();
  left = Math.min(LINKS_A_SECOND, left + ((now - filledAt) / 1000) * LINKS_A_SECOND);
  filledAt = now;
  if (left < 1)
    throw new PublicError(503, 'Too many daemons connect at once', { retryAfter: 1 + Math.ceil(Math.random() * 4) });
  left -= 1;
}
