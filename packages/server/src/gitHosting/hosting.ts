import type { Context } from '../context.ts';
import { type CommitGraphs, createCommitGraphs } from './afterPush.ts';
import { HOSTING_LIMITS, type HostingLimits } from './hostingLimits.ts';
import { createTransfers, type Transfers } from './transfers.ts';

/** What HTTP and SSH share in one process. */
export interface Hosting {
  ctx: Context;
  limits: HostingLimits;
  transfers: Transfers;
  /** Bytes of pushes that were accepted and are not in the size of their project yet, by workspace. */
  pending: Map<number, number>;
  graphs: CommitGraphs;
  stop(): Promise<void>;
}

/** As for calls: then transfers in progress are cut. */
const GRACE_MS = 5_000;

export function createHosting(ctx: Context, limits: Partial<HostingLimits> = {}): Hosting {
  const transfers = createTransfers(ctx);
  const graphs = createCommitGraphs(ctx);
  return {
    ctx,
    limits: { ...HOSTING_LIMITS, ...limits },
    transfers,
    pending: new Map(),
    graphs,
    async stop() {
      await transfers.stop(GRACE_MS);
      await graphs.stop();
    },
  };
}
