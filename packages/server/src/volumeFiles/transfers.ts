import type { Config } from '../config/config.ts';
import { tooManyConcurrent } from '../http/errors.ts';

/** Of one person, at a time. */
const MAX_TRANSFERS = 16;

/** Counts the open transfers of people; each platform in this process has its own. */
export function createTransfers() {
  const ofPlatform = new WeakMap<Config, Map<number, number>>();
  return {
    /** Throws 429 when there are too many. Returns what ends the transfer. */
    begin({ config }: { config: Config }, userId: number): () => void {
      const open = ofPlatform.get(config) ?? new Map<number, number>();
      ofPlatform.set(config, open);
      const count = open.get(userId) ?? 0;
      if (count >= MAX_TRANSFERS) throw tooManyConcurrent(2);
      open.set(userId, count + 1);
      return () => {
        const left = (open.get(userId) ?? 1) - 1;
        if (left > 0) open.set(userId, left);
        else open.delete(userId);
      };
    },
  };
}
