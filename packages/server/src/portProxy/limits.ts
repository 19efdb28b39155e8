import { RateLimiterMemory } from 'rate-limiter-flexible';
import { tooManyConcurrent } from '../http/errors.ts';
import { consumePoint } from '../http/rateLimit.ts';
import type { Holder } from '../slots/holder.ts';

export interface PortProxyLimits {
  /** Requests and WebSockets at a time: of a container, of a person, of an address at public ports, of this process. */
  perContainer: number;
  perPerson: number;
  perAddress: number;
  total: number;
  /** Requests of a person to one container, on average over the seconds of `burstSeconds`. */
  requestsPerSecond: number;
  burstSeconds: number;
  /** The container must begin its answer within this time after the last byte moved. */
  firstByteMs: number;
  /** After it an answer, or an upload, in which no byte moves is cut. */
  idleMs: number;
  webSocketIdleMs: number;
  /** A refused or already answered request may send the rest of its body for so long. */
  lingerMs: number;
}

export const PORT_PROXY_LIMITS: PortProxyLimits = {
  // A daemon opens 500 streams; some are left for terminals and files.
  perContainer: 300,
  perPerson: 200,
  perAddress: 64,
  total: 4000,
  requestsPerSecond: 2000,
  burstSeconds: 5,
  firstByteMs: 10 * 60_000,
  idleMs: 15 * 60_000,
  webSocketIdleMs: 60 * 60_000,
  lingerMs: 10_000,
};

export interface Admissions {
  /** Counts a request until the returned function is called. Throws 429. */
  admit(containerId: number, visitor: Holder): Promise<() => void>;
  readonly open: number;
}

export function createAdmissions(limits: PortProxyLimits): Admissions {
  const open = new Map<string, number>();
  let total = 0;
  const rate = new RateLimiterMemory({
    points: limits.requestsPerSecond * limits.burstSeconds,
    duration: limits.burstSeconds,
  });
  const change = (key: string, by: number): void => {
    const count = (open.get(key) ?? 0) + by;
    if (count > 0) open.set(key, count);
    else open.delete(key);
  };
  return {
    get open() {
      return total;
    },
    async admit(containerId, { key: visitor, isStranger }) {
      const ofContainer = `container ${containerId}`;
      await consumePoint(rate, `${containerId} ${visitor}`);
      const isFull =
        total >= limits.total ||
        (open.get(ofContainer) ?? 0) >= limits.perContainer ||
        (open.get(visitor) ?? 0) >= (isStranger ? limits.perAddress : limits.perPerson);
      if (isFull) throw tooManyConcurrent(1);
      change(ofContainer, 1);
      change(visitor, 1);
      total += 1;
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        change(ofContainer, -1);
        change(visitor, -1);
        total -= 1;
      };
    },
  };
}
