import { setTimeout as wait } from 'node:timers/promises';
import { text } from '@stagi/contract/text.ts';
import type { RawBuilder } from 'kysely';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import {
  claimLeases,
  expireLeasesOfDeadWorkers,
  type Lease,
  msUntilNextDue,
  type ReconciledTable,
  renewLeases,
  retryLater,
} from './lease.ts';
import { type Stuck, wakeStuck } from './wakeStuck.ts';

/** What is reconciled, and how. */
export interface Reconciled {
  table: ReconciledTable;
  /** For the log: 'servers'. */
  plural: string;
  /** Rows in groups that share a limit of concurrent steps, so that a slow group does not delay the others. Read before each pass. */
  groups(): readonly Group[];
  /** One step for one row, which releases the lease. What it throws delays this row alone. */
  step(lease: Lease): Promise<void>;
  /** Errors that are no bug: their message is stored for people and logged as a warning. */
  isExpected(error: unknown): error is Error;
  stuck: Stuck;
}

export interface Group {
  name: string;
  condition: RawBuilder<unknown>;
  /** Steps at a time. */
  limit: number;
}

/** Notifications may be lost: due rows are looked for at least this often. */
export const DUE_SCAN_MS = 5_000;
/** How often the reaper looks for stuck rows. */
const REAP_INTERVAL_MS = 60_000;
const MIN_WAIT_MS = 50;
/** Graceful shutdown waits this long for running steps. A step cut off loses nothing: another process takes over its lease. */
const SHUTDOWN_TIMEOUT_MS = 5_000;

/** Moves rows step by step to their desired state. Any number of these loops may run on one database. */
export function startReconcileLoop(ctx: Context, what: Reconciled): { stop(): Promise<void> } {
  const { table, plural } = what;
  const { leaseMs } = ctx.config;
  const leases = new Map<Lease, Promise<void>>();
  const busy = new Map<string, number>();
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  let currentPass: Promise<void> | null = null;
  let passRequested = false;

  const requestPass = (): void => {
    passRequested = true;
    if (currentPass || stopped) return;
    currentPass = pass().finally(() => {
      currentPass = null;
      if (passRequested) requestPass();
    });
  };
  const pass = async (): Promise<void> => {
    passRequested = false;
    if (timer) clearTimeout(timer);
    // A lease without a worker id is not freed when this process dies.
    await ctx.registration.firstAttempt;
    let waitMs = DUE_SCAN_MS;
    try {
      await claimDue();
      // A due row whose group is at its limit is claimed as soon as a step of that group ends.
      waitMs = Math.min(waitMs, Math.max(MIN_WAIT_MS, await msUntilNextDue(ctx.db, table)));
    } catch (error) {
      ctx.log.warn({ err: error }, `cannot look for due ${plural} now`);
    }
    if (!stopped) timer = setTimeout(requestPass, waitMs);
  };
  const claimDue = async (): Promise<void> => {
    for (const { name, condition, limit } of what.groups()) {
      const free = limit - (busy.get(name) ?? 0);
      if (stopped || free <= 0) continue;
      const owner = ctx.registration.workerId();
      for (const lease of await claimLeases(ctx.db, table, condition, { limit: free, leaseMs, owner }))
        startStep(name, lease);
    }
  };
  const startStep = (group: string, lease: Lease): void => {
    busy.set(group, (busy.get(group) ?? 0) + 1);
    const done = reconcile(ctx, what, lease).finally(() => {
      leases.delete(lease);
      busy.set(group, (busy.get(group) ?? 1) - 1);
      requestPass();
    });
    leases.set(lease, done);
  };

  const unsubscribe = ctx.bus.subscribe('due', ({ kind }) => {
    if (kind === table) requestPass();
  });
  const leaseRenewal = setInterval(() => {
    renewLeases(ctx.db, table, [...leases.keys()], leaseMs).catch((error: unknown) => {
      ctx.log.warn({ err: error }, `cannot keep the leases of ${plural}`);
    });
  }, leaseMs / 3);
  const loops = [
    repeatEvery(ctx, DUE_SCAN_MS, `freeing abandoned ${plural}`, async () => {
      if ((await expireLeasesOfDeadWorkers(ctx.db, table)) > 0) requestPass();
    }),
    repeatEvery(
      ctx,
      REAP_INTERVAL_MS,
      `waking forgotten ${plural}`,
      () => wakeStuck(ctx, table, what.stuck),
      REAP_INTERVAL_MS,
    ),
  ];
  requestPass();

  return {
    async stop() {
      stopped = true;
      unsubscribe();
      await Promise.all(loops.map((loop) => loop.stop()));
      await currentPass;
      if (timer) clearTimeout(timer);
      await Promise.race([Promise.all(leases.values()), wait(SHUTDOWN_TIMEOUT_MS, null, { ref: false })]);
      clearInterval(leaseRenewal);
    },
  };
}

/** Never throws: a failure delays this row alone. */
async function reconcile(ctx: Context, { table, step, isExpected }: Reconciled, lease: Lease): Promise<void> {
  try {
    await step(lease);
  } catch (error) {
    const known = error instanceof PublicError || isExpected(error);
    ctx.log[known ? 'warn' : 'error']({ err: error, table, id: lease.id }, 'a step failed');
    const message = known ? error.message : text('Unexpected error; trying again');
    await retryLater(ctx.db, table, lease, message).catch((later: unknown) => {
      // The lease expires, then a worker claims the row again.
      ctx.log.warn({ err: later, table, id: lease.id }, 'cannot put a row back');
    });
  }
}
