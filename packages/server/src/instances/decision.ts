import type { RentedStatus } from '@stagi/contract/instances.ts';
import type { Changes } from './evidence.ts';
import type { Effect } from './world.ts';

export type ReadyStep = 'capacity' | 'booting' | 'daemon' | 'ready';

/** What is written down; without `to` the status stays. */
export interface Settlement {
  to?: RentedStatus;
  reason?: string | null;
  set?: Changes;
  /** Steps of getting ready that are reached now. */
  reached?: readonly ReadyStep[];
  /** The cloud has nothing of this instance any more. */
  isGone?: true;
  /** Milliseconds to the next look; `null`: none until somebody acts. */
  againMs: number | null;
}

/** One effect on the cloud, or none. */
export type Decision = { effect: Effect } | Settlement;
