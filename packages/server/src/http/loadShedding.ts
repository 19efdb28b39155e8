import type { Context } from '../context.ts';
import { type PublicError, unavailable } from './errors.ts';

/** The pool serves ten at a time: behind so many a call would wait too long to be of use. */
const CALLS_AT_ONCE = 200;

export interface LoadShedder {
  /** The 503 to answer with, before a body is read, while the limit is reached. */
  refusal(): PublicError | null;
  /** Counts a call as in progress until it is answered. */
  pass<T>(work: () => Promise<T>): Promise<T>;
}

/** Load shedding: bounds the calls in progress in this process. Beyond that they are refused at once, not answered late. */
export function createLoadShedder(meters: Context['meters'], most = CALLS_AT_ONCE): LoadShedder {
  let inside = 0;
  return {
    refusal() {
      if (inside < most) return null;
      meters.callShed();
      return unavailable();
    },
    async pass(work) {
      inside += 1;
      meters.callsInFlight(inside);
      try {
        return await work();
      } finally {
        inside -= 1;
        meters.callsInFlight(inside);
      }
    },
  };
}
