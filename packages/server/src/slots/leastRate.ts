import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request, or a stream, of a client who sends or reads. */
export interface Watched {
  /** So many of it have come or gone. */
  bytes(): number;
  /** Nothing goes on until the client sends, or reads. While the platform itself is at work no time counts. */
  isWaitingForClient(): boolean;
  /** Ends it. */
  cut(): void;
  /** It may last as long as its ends want. */
  isEndless?: boolean;
}

export interface RateLimits {
  /** On average over `overMs` in which the platform waits for the client. */
  leastBytesPerSecond: number;
  overMs: number;
  /** The longest that anything lasts. */
  deadlineMs: number;
  checkMs: number;
}

export const LEAST_RATE: RateLimits = {
  leastBytesPerSecond: 1024,
  overMs: 60_000,
  deadlineMs: 12 * 60 * 60_000,
  checkMs: 5_000,
};

/** Cuts clients that keep a slot by sending or reading a byte now and then. */
export interface LeastRate {
  /** Until the returned function is called. */
  watch(watched: Watched): () => void;
  /** The same for a request and its answer. */
  watchRequest(
    request: IncomingMessage,
    response: ServerResponse,
    cut: () => void,
    more?: Pick<Watched, 'isEndless'>,
  ): () => void;
}

interface State {
  beganAt: number;
  bytes: number;
  waitedMs: number;
  movedBytes: number;
}

export function createLeastRate(limits: Partial<RateLimits> = {}): LeastRate {
  const { leastBytesPerSecond, overMs, deadlineMs, checkMs } = { ...LEAST_RATE, ...limits };
  const states = new Map<Watched, State>();
  let timer: NodeJS.Timeout | null = null;
  let checkedAt = 0;

  function check(): void {
    const now = performance.now();
    // After a pause of this process nobody knows what was sent meanwhile.
    const passed = Math.min(now - checkedAt, 2 * checkMs);
    checkedAt = now;
    for (const [watched, state] of states) {
      const bytes = watched.bytes();
      state.movedBytes += bytes - state.bytes;
      state.bytes = bytes;
      if (watched.isWaitingForClient()) state.waitedMs += passed;
      if (isTooSlow(state) || (!watched.isEndless && now - state.beganAt > deadlineMs)) {
        forget(watched);
        watched.cut();
      }
    }
  }

  function isTooSlow(state: State): boolean {
    if (state.waitedMs < overMs) return false;
    const isSlow = (state.movedBytes / state.waitedMs) * 1000 < leastBytesPerSecond;
    state.waitedMs = 0;
    state.movedBytes = 0;
    return isSlow;
  }

  function forget(watched: Watched): void {
    states.delete(watched);
    if (states.size > 0 || !timer) return;
    clearInterval(timer);
    timer = null;
  }

  function watch(watched: Watched): () => void {
    states.set(watched, { beganAt: performance.now(), bytes: watched.bytes(), waitedMs: 0, movedBytes: 0 });
    if (!timer) {
      checkedAt = performance.now();
      timer = setInterval(check, checkMs);
      timer.unref();
    }
    return () => forget(watched);
  }

  return {
    watch,
    watchRequest(request, response, cut, more) {
      // A request whose body is given up loses its socket, while its answer goes on.
      const { socket } = request;
      return watch({
        ...more,
        bytes: () => socket.bytesRead + socket.bytesWritten,
        isWaitingForClient: () => isAwaited(request, response),
        cut,
      });
    },
  };
}

/** More of its body could be taken, or bytes of the answer lie ready that it does not read. */
const isAwaited = (request: IncomingMessage, response: ServerResponse): boolean =>
  (!request.complete && request.readableLength < request.readableHighWaterMark) || response.writableLength > 0;

/** That of this process. */
export const leastRate = createLeastRate();
