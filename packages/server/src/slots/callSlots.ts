import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import type { FairSlots } from './fairSlots.ts';
import type { Holder } from './holder.ts';

/** The place of a call among those that are being answered. */
export interface CallPlace {
  /**
   * From here on the call counts as this holder's, who has authenticated. True: it had to wait, so that what was read
   * before may have changed.
   */
  passTo(holder: Holder): Promise<boolean>;
}

/** Bounds the calls that are being answered: the others wait in turn, and are refused at once where too many wait. */
export interface CallSlots {
  /**
   * `first`: who it seems to be, until it has authenticated. `gone` is aborted when nobody waits for the answer any more.
   */
  pass<T>(first: Holder, gone: AbortSignal, work: (place: CallPlace) => Promise<T>): Promise<T>;
}

export function createCallSlots(calls: FairSlots, meters: Context['meters']): CallSlots {
  const take = async (holder: Holder, signal: AbortSignal): Promise<() => void> => {
    try {
      return await calls.take(holder, { signal });
    } catch (error) {
      if (error instanceof PublicError) meters.callShed();
      throw error;
    }
  };
  return {
    async pass(first, gone, work) {
      let release = await take(first, gone);
      let { key } = first;
      meters.callsInFlight(calls.held);
      try {
        return await work({
          async passTo(holder) {
            if (holder.key === key) return false;
            release();
            key = holder.key;
            const free = calls.takeFree(holder);
            release = free ?? (await take(holder, gone));
            return free === null;
          },
        });
      } finally {
        release();
        meters.callsInFlight(calls.held);
      }
    },
  };
}
