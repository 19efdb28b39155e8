import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { networkOf } from './network.ts';

/** From one network, so that nobody fills the log. */
const LINES_PER_MINUTE = 60;
const lines = new RateLimiterMemory({ points: LINES_PER_MINUTE, duration: 60 });

/** The person or program that a request acts for, as far as it was found out. */
export interface Caller {
  /** For a call that signs somebody in: the account that it tries to enter. */
  userId: number | null;
  apiTokenId?: number;
  app?: string;
  /** The id of an access key of the S3 service. */
  accessKey?: string;
  workspaceId?: number;
  /** It proves who somebody is: each refusal is logged, also one with status 200. */
  isSignIn?: boolean;
}

const callers = new WeakMap<FastifyRequest, Caller>();

/** Remembers it for the line that `logRefusedRequest` may write. */
export function noteCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, { ...callers.get(request), ...caller });
}

/** Logs that the platform has refused somebody something, with no word of what they sent. */
export function logRefusal(
  log: Pick<Logger, 'info'>,
  { ip, ...refusal }: { at: string; ip: string; reason: string } & Partial<Caller>,
): void {
  lines.consume(networkOf(ip)).then(
    ({ remainingPoints }) =>
      log.info({ ...refusal, ip, ...(remainingPoints === 0 && { othersOfThisMinuteLeftOut: true }) }, 'refused'),
    // Enough lines about this network.
    () => {},
  );
}

/** The same for a request that gets this answer, if it is a refusal: what the caller may not or cannot do. */
export function logRefusedRequest(
  request: FastifyRequest,
  { status, reason }: { status: number; reason: string },
): void {
  const { isSignIn = false, ...caller } = callers.get(request) ?? { userId: null };
  if (status >= 500 || (status < 400 && !isSignIn)) return;
  const at = request.routeOptions.url ?? 'no route';
  logRefusal(request.log as Pick<Logger, 'info'>, { at, ip: request.ip, reason, ...caller });
}
