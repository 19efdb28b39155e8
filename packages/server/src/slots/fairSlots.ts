import { tooManyConcurrent, unavailable } from '../http/errors.ts';
import type { Holder } from './holder.ts';

export interface SlotLimits {
  total: number;
  /** The share of a person, or a server: at most a quarter of all, or eight. */
  perPerson: number;
  /** The share of all who come from one address and have not authenticated: at most an eighth, or eight. */
  perStranger?: number;
  /** Takers that wait; of them a person's and an address's are as many as their share of the slots, or more. */
  waiting?: number;
}

/** A bounded number of things at a time, of which nobody gets all. */
export interface FairSlots {
  /**
   * Resolves once there is room, with what gives it back. Those who wait are served in turn: one of each workspace, and
   * in it one of each holder. Rejects with 429 or 503 when too many wait, and with the reason of `signal`.
   */
  take(holder: Holder, options?: { weight?: number; signal?: AbortSignal | undefined }): Promise<Release>;
  /** Throws as `take` and `enter` would now: before work is done for one who would be refused. */
  requireChance(holder: Holder): void;
  /** The same as `take`, if there is room now. */
  takeFree(holder: Holder): Release | null;
  /**
   * Now or never: throws 429 or 503. For a stranger with `evict` there is always room: the oldest of the same address
   * makes place, or the oldest of all, and its `evict` is called.
   */
  enter(holder: Holder, evict?: () => void): Release;
  readonly held: number;
  readonly waiting: number;
}

/** Gives a slot back; further calls do nothing. */
export type Release = () => void;

interface Taker {
  holder: Holder;
  weight: number;
  grant(): void;
}

interface Entered {
  key: string;
  release: Release;
  evict: () => void;
}

const RETRY_SECONDS = 1;
/** Alone on an idle platform one still gets so many. */
const LEAST = 8;

export function createFairSlots({ total, perPerson, perStranger = 0, waiting = 0 }: SlotLimits): FairSlots {
  if (perPerson > Math.max(LEAST, total / 4) || perStranger > Math.max(LEAST, total / 8))
    throw new Error('one person gets at most a quarter of the slots, and one address an eighth');
  const heldBy = new Map<string, number>();
  let held = 0;
  /** Turns in their order; in each its holders in theirs. */
  const turns = new Map<string, Map<string, Taker[]>>();
  const waitingOf = new Map<string, number>();
  let waitingCount = 0;
  /** Strangers that may have to make place, the oldest first. */
  const entered = new Set<Entered>();

  const shareOf = ({ isStranger }: Holder): number => (isStranger ? perStranger : perPerson);
  const hasShare = (holder: Holder, weight: number): boolean =>
    (heldBy.get(holder.key) ?? 0) + weight <= shareOf(holder);
  /** As one of those who wait; `more`: besides them. */
  const mayWait = ({ key, isStranger }: Holder, more = 0): boolean =>
    waitingCount + more <= waiting &&
    (waitingOf.get(key) ?? 0) + more <= Math.max(LEAST, waiting / (isStranger ? 8 : 4));
  const refusal = (holder: Holder, weight: number): Error =>
    hasShare(holder, weight) ? unavailable() : tooManyConcurrent(RETRY_SECONDS);

  function hold({ key }: Holder, weight: number): Release {
    held += weight;
    count(heldBy, key, weight);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      held -= weight;
      count(heldBy, key, -weight);
      serveWaiting();
    };
  }

  function serveWaiting(): void {
    for (let next = nextTaker(); next; next = nextTaker()) {
      leaveQueue(next);
      next.grant();
    }
  }

  /** Who is heavier than the room that is left holds the others up: it would wait forever. */
  function nextTaker(): Taker | null {
    for (const holders of turns.values())
      for (const [taker] of holders.values()) {
        if (!taker || !hasShare(taker.holder, taker.weight)) continue;
        return held + taker.weight <= total ? taker : null;
      }
    return null;
  }

  function joinQueue(taker: Taker): void {
    const { key, turn } = taker.holder;
    const holders = turns.get(turn) ?? new Map<string, Taker[]>();
    turns.set(turn, holders);
    holders.set(key, [...(holders.get(key) ?? []), taker]);
    count(waitingOf, key, 1);
    waitingCount += 1;
  }

  /** Its turn, and it in its turn, come last then. */
  function leaveQueue(taker: Taker): void {
    const { key, turn } = taker.holder;
    const holders = turns.get(turn)!;
    const others = holders.get(key)!.filter((one) => one !== taker);
    holders.delete(key);
    if (others.length > 0) holders.set(key, others);
    turns.delete(turn);
    if (holders.size > 0) turns.set(turn, holders);
    count(waitingOf, key, -1);
    waitingCount -= 1;
  }

  return {
    take(holder, { weight = 1, signal } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      return new Promise((resolve, reject) => {
        let isWaiting = true;
        const abort = (): void => {
          leaveQueue(taker);
          reject(signal!.reason as Error);
          // It may have held up the others.
          serveWaiting();
        };
        const taker: Taker = {
          holder,
          weight,
          grant() {
            isWaiting = false;
            signal?.removeEventListener('abort', abort);
            resolve(hold(holder, weight));
          },
        };
        signal?.addEventListener('abort', abort, { once: true });
        joinQueue(taker);
        serveWaiting();
        if (!isWaiting || mayWait(holder)) return;
        signal?.removeEventListener('abort', abort);
        leaveQueue(taker);
        reject(refusal(holder, weight));
      });
    },

    requireChance(holder) {
      if (!(hasShare(holder, 1) && held < total) && !(waiting > 0 && mayWait(holder, 1))) throw refusal(holder, 1);
    },

    takeFree: (holder) => (hasShare(holder, 1) && held < total ? hold(holder, 1) : null),

    enter(holder, evict) {
      if (evict && holder.isStranger) makePlace(holder);
      if (!hasShare(holder, 1) || held >= total) throw refusal(holder, 1);
      const release = hold(holder, 1);
      if (!evict) return release;
      const entry: Entered = { key: holder.key, evict, release: leave };
      function leave(): void {
        entered.delete(entry);
        release();
      }
      entered.add(entry);
      return leave;
    },

    get held() {
      return held;
    },
    get waiting() {
      return waitingCount;
    },
  };

  function makePlace(holder: Holder): void {
    if (!hasShare(holder, 1)) expel(({ key }) => key === holder.key);
    else if (held >= total) expel(() => true);
  }

  function expel(isMeant: (entry: Entered) => boolean): void {
    for (const entry of entered) {
      if (!isMeant(entry)) continue;
      entry.release();
      entry.evict();
      return;
    }
  }
}

function count(map: Map<string, number>, key: string, by: number): void {
  const now = (map.get(key) ?? 0) + by;
  if (now > 0) map.set(key, now);
  else map.delete(key);
}
