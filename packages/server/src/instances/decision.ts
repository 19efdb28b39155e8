import type { RentedStatus } from '@stagi/contract/instances.ts';
import type { InstanceChanges } from './observations.ts';
import type { Effect } from './snapshot.ts';

export type ReadyStep = 'capacity' | 'booting' | 'daemon' | 'ready';

/** What a step stores; without `to` the status stays. */
export interface Transition {
  to?: RentedStatus;
  reason?: string | null;
  set?: InstanceChanges;
  /** Steps of the creation that are reached now. */
  reached?: readonly ReadyStep[];
  /** The cloud has no machine of this instance any more. */
  isGone?: true;
  /** Milliseconds until the next reconcile step; `null`: none. */
  requeueAfterMs: number | null;
}

/** Either one effect on the cloud or a transition. */
export type Decision = { effect: Effect } | Transition;
