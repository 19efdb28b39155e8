import type { Context } from '../context.ts';
import { type Loop, repeatEvery } from '../loops/repeatEvery.ts';

/** So that a transfer ends within 2 s after the right to it. */
const CHECK_MS = 1_000;

interface Open {
  /** Equal for transfers that `isAllowed` answers alike. */
  key: string;
  isAllowed: () => Promise<boolean>;
  /** Ends the processes and the connection at once. */
  cut: () => void;
  ended: Promise<void>;
}

export interface Transfers {
  /** The caller calls what it returns at the end. */
  begin(transfer: Omit<Open, 'ended'>): () => void;
  readonly open: number;
  /** Waits for open transfers for a while, then cuts them. */
  stop(graceMs: number): Promise<void>;
}

/** The transfers of this process: they are cut when their caller loses the right to them. */
export function createTransfers(ctx: Context): Transfers {
  const open = new Set<Open>();
  const loop: Loop = repeatEvery(ctx, CHECK_MS, 'checking the right to git transfers', check);

  async function check(): Promise<void> {
    const transfers = [...open];
    const asked = new Map(transfers.map(({ key, isAllowed }) => [key, isAllowed]));
    await Promise.all(
      [...asked].map(async ([key, isAllowed]) => {
        if (await isAllowed()) return;
        for (const transfer of transfers) if (transfer.key === key) transfer.cut();
      }),
    );
  }

  return {
    begin(transfer) {
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const entry = { ...transfer, ended };
      open.add(entry);
      return () => {
        open.delete(entry);
        resolve();
      };
    },
    get open() {
      return open.size;
    },
    async stop(graceMs) {
      await loop.stop();
      const all = Promise.all([...open].map(({ ended }) => ended));
      const timer = setTimeout(() => {
        for (const { cut } of open) cut();
      }, graceMs);
      await all;
      clearTimeout(timer);
    },
  };
}
