import { setImmediate } from 'node:timers/promises';

/** Other requests are answered after so much work of one. */
const SLICE_MS = 8;

/** Divides long work: `isOver` lets others run from time to time, and says whether the time for all of it is over. */
export function createSlice(deadlineMs: number): { isOver(): Promise<boolean> } {
  const deadline = performance.now() + deadlineMs;
  let began = performance.now();
  return {
    async isOver() {
      const now = performance.now();
      if (now > deadline) return true;
      if (now - began > SLICE_MS) {
        await setImmediate();
        began = performance.now();
      }
      return false;
    },
  };
}
