import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Config } from '../config/config.ts';
import { networkOf } from '../http/network.ts';
import { consumePoint } from '../http/rateLimit.ts';

/** A login page that is opened asks for a passkey challenge by itself; only an answer to it is a sign-in attempt. */
const CHALLENGES_PER_VISIT = 10;

const visits = new WeakMap<Config, RateLimiterMemory>();
const challenges = new WeakMap<Config, RateLimiterMemory>();

type Asked = { config: Config; ip: string };

/** The rate limit of sign-in calls per IP address: throws 429 above it. Each process counts for itself. */
export const limitSignInRate = (ctx: Asked): Promise<void> => count(visits, ctx, ctx.config.signInsPerMinute);

/** The rate limit of passkey challenges per IP address; they do not count as sign-in calls. */
export const limitChallengeRate = (ctx: Asked): Promise<void> =>
  count(challenges, ctx, ctx.config.signInsPerMinute * CHALLENGES_PER_VISIT);

async function count(
  limiters: WeakMap<Config, RateLimiterMemory>,
  { config, ip }: Asked,
  points: number,
): Promise<void> {
  let limiter = limiters.get(config);
  if (!limiter) {
    limiter = new RateLimiterMemory({ points, duration: 60 });
    limiters.set(config, limiter);
  }
  await consumePoint(limiter, networkOf(ip));
}
