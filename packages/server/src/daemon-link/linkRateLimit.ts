import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

export const LINKS_PER_SECOND = 50;
/** On average over this time, so that a few may come at once. */
const OVER_SECONDS = 10;
const POINTS = LINKS_PER_SECOND * OVER_SECONDS;

/** The rate limit of links that have authenticated: after a restart of the platform all daemons reconnect at once. */
export interface LinkRateLimit {
  /** False: this server has to come again later. */
  admit(instanceId: number): Promise<boolean>;
}

export function createLinkRateLimit(): LinkRateLimit {
  const all = new RateLimiterMemory({ points: POINTS, duration: OVER_SECONDS });
  // A server whose link ends again and again leaves room for the others.
  const perServer = new RateLimiterMemory({ points: POINTS / 4, duration: OVER_SECONDS });
  return {
    admit: async (instanceId) => (await consume(perServer, instanceId)) && (await consume(all, 'all')),
  };
}

async function consume(limiter: RateLimiterMemory, key: string | number): Promise<boolean> {
  try {
    await limiter.consume(key);
    return true;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return false;
    throw refusal;
  }
}
