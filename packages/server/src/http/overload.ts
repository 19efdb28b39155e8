import type { Context } from '../context.ts';
import { type PublicError, unavailable } from './errors.ts';

/** The pool serves ten of them at a time: whoever came behind so many would wait longer than is of use. */
const CALLS_AT_ONCE = 200;

export interface Gate {
  /** 503 while as many calls are being worked on as this process takes, to be told before a body is read. */
  refusal(): PublicError | null;
  /** Counts a call until it is answered. */
  pass<T>(work: () => Promise<T>): Promise<T>;
}

/** Bounds the calls that this process works on at once: what is beyond is refused at once instead of answered late. */
export function openGate(meters: Context['meters'], most = CALLS_AT_ONCE): Gate {
  let inside = 0;
  return {
    refusal() {
      if (inside < most) return null;
      meters.callShed();
      return unavailable();
    },
    async pass(work) {
      inside += 1;
      meters.callsInside(inside);
      try {
        return await work();
      } finally {
        inside -= 1;
        meters.callsInside(inside);
      }
    },
  };
}
