import type { Decision, Settlement } from './decision.ts';
import { ageMs, doubt, doubtExistence } from './evidence.ts';
import { GONE_GAP_MS, pollMs } from './pace.ts';
import type { World } from './world.ts';

const REPEAT_VISIBLE_MS = 5_000;
const REPEAT_TERMINATING_MS = 60_000;

/** Ends when the cloud has shown twice that nothing is left; an "ok" of its is not believed. */
export function towardsGone(world: World): Decision {
  const { row, ops, machine } = world;
  if (!mayExist(world)) return gone(world);
  const pollAgain = { againMs: pollMs(ageMs(world, row.status_since)) };
  const asked = ops.terminate?.state === 'done' ? ops.terminate : undefined;
  if (machine) {
    const patienceMs = machine.state === 'terminating' ? REPEAT_TERMINATING_MS : REPEAT_VISIBLE_MS;
    return asked && ageMs(world, asked.created_at) < patienceMs ? pollAgain : { effect: 'terminate' };
  }
  // A list that lags hides it: its ref is enough to delete it.
  if (refOf(world) && !asked) return { effect: 'terminate' };
  // Whether an unanswered start had an effect shows only with time.
  const isUncertain = ops.start?.state === 'intent' && refOf(world) === null;
  const { isBelieved, set, waitMs } = isUncertain ? doubtExistence(world) : doubt(world, GONE_GAP_MS);
  if (isBelieved) return gone(world);
  return { set, againMs: isUncertain ? Math.min(waitMs, REPEAT_VISIBLE_MS) : waitMs };
}

/** Whether the cloud was ever asked for a machine. */
export function mayExist(world: Pick<World, 'row' | 'ops'>): boolean {
  return world.ops.start !== undefined || world.row.provider_ref !== null;
}

/** How the cloud calls the machine, from wherever it is known. */
export function refOf({ row, ops, machine }: World): string | null {
  const started = ops.start?.params.ref;
  return machine?.ref ?? row.provider_ref ?? (typeof started === 'string' ? started : null);
}

function gone({ row }: World): Settlement {
  return {
    to: row.status === 'terminating' ? 'terminated' : undefined,
    set: { provider_ref: null, ip: null, machine_state: null, misses: 0, missed_at: null },
    isGone: true,
    againMs: null,
  };
}
