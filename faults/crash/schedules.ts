import { setTimeout as pause } from 'node:timers/promises';
import { PLATFORM_CRASH_POINTS } from '@stagi/contract/crashPoints.ts';
import type { FakeFault, FakeOperation } from '@stagi/server/src/providers/fake/protocol.ts';
import { percentile, type Random, seeded } from '../random.ts';
import { until } from '../until.ts';
import { aRentedServer, findLeakedMachines, type RentedServer } from './rented.ts';
import { openStage, type Stage } from './stage.ts';

export interface ScheduleResult {
  lives: number;
  deaths: number;
  faults: number;
  orphans: number;
  duplicates: number;
  /** Machines that only the sweep removed, as the cloud had reported them deleted. */
  swept: number;
  /** From the end of all faults and requests to the removal of all servers. */
  convergedMs: number[];
  surprises: string[];
}

const OPERATIONS: readonly FakeOperation[] = ['start', 'look', 'list', 'stop', 'resume', 'reboot', 'terminate'];
const POINTS = PLATFORM_CRASH_POINTS.filter((point) => !/^(docker-container|enrol|sweep)/.test(point));
/** Concurrent servers on one platform. */
const AT_ONCE = 10;
const GONE_WITHIN_MS = 300_000;

/** Random lifecycles of servers, with random faults of the cloud and random crashes of the platform. */
export async function runSchedules(lives: number, seed: number, lanes: number): Promise<ScheduleResult> {
  const result: ScheduleResult = {
    ...{ lives: 0, deaths: 0, faults: 0, orphans: 0, duplicates: 0, swept: 0 },
    ...{ convergedMs: [], surprises: [] },
  };
  let left = lives;
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const random = seeded(seed + lane);
      const env = { SWEEP_SECONDS: '1', QUARANTINE_SECONDS: '5' };
      const stage = await openStage(`chance${lane}-${Date.now().toString(36)}`, env);
      try {
        while (left > 0) {
          const count = Math.min(AT_ONCE, left);
          left -= count;
          await oneRound(stage, random, count, result);
        }
        result.deaths += stage.deaths();
        result.surprises.push(...stage.surprises);
        const { rows } = await stage.db.query('select count(*)::int as n from stray where deletions > 0');
        result.swept += rows[0].n;
      } finally {
        await stage.close();
      }
    }),
  );
  return result;
}

export function formatScheduleResult(result: ScheduleResult): string {
  const { lives, deaths, faults, orphans, duplicates, swept, convergedMs, surprises } = result;
  return (
    `n = ${lives} lives with ${deaths} deaths and ${faults} faults, ${orphans} orphans, ${duplicates} duplicates, ` +
    `${swept} machines removed by the sweep alone, ${surprises.length} other exits, ` +
    `all gone after p95 ${Math.round(percentile(convergedMs, 0.95))} ms`
  );
}

async function oneRound(stage: Stage, random: Random, count: number, result: ScheduleResult): Promise<void> {
  let living = true;
  let armedAt = 0;
  const trouble = (async () => {
    while (living) {
      await pause(random.between(50, 400));
      // A crash point that is not reached soon is replaced by another.
      if (Date.now() - armedAt > 1_000) {
        stage.arm(random.pick(POINTS));
        armedAt = Date.now();
      }
      const isSent = await stage.cloud.control
        .fault(random.pick(OPERATIONS), aFault(random), random.between(1, 2))
        .then(
          () => true,
          () => false,
        );
      if (isSent) result.faults += 1;
    }
  })();
  const seeds = Array.from({ length: count }, () => random.between(1, 2 ** 30));
  const servers = await Promise.all(seeds.map((each) => live(stage, seeded(each))));
  living = false;
  await trouble;
  stage.arm(null);
  await stage.cloud.control.clearFaults();
  const since = Date.now();
  await Promise.all(
    servers.map(async (server) => {
      await server.ask('terminate').catch(ignoreRefusal);
      await server.reached('terminate', GONE_WITHIN_MS);
      result.convergedMs.push(Date.now() - since);
    }),
  );
  // Machines that were hidden show again, and the sweep has had its quarantine.
  await until('the cloud is empty', async () => isEmpty(stage), 60_000).catch(() => {});
  const left = await findLeakedMachines(stage);
  result.orphans += left.orphans.length;
  result.duplicates += left.duplicates.length;
  result.lives += count;
}

async function isEmpty(stage: Stage): Promise<boolean> {
  const { machines } = await stage.cloud.control.report();
  return machines.every(({ state }) => state === 'gone');
}

/** Requests a few changes, without waiting for all of them. */
async function live(stage: Stage, random: Random): Promise<RentedServer> {
  const server = await aRentedServer(stage);
  await server.ask('rent');
  for (let wish = random.between(1, 5); wish > 0; wish -= 1) {
    await pause(random.between(0, 2_000));
    const step = random.pick(['stop', 'start', 'reboot', 'terminate'] as const);
    await server.ask(step).catch(ignoreRefusal);
    if (step === 'terminate') break;
  }
  return server;
}

/** A request that the status does not allow is refused, which is fine. */
function ignoreRefusal(error: unknown): void {
  if (error instanceof Error && 'status' in error && error.status === 200) return;
  throw error;
}

function aFault(random: Random): FakeFault {
  return random.pick<FakeFault>([
    { kind: 'rateLimited' },
    { kind: 'rateLimited', retryAfterS: 1 },
    { kind: 'internal' },
    { kind: 'effectThenReset' },
    { kind: 'effectThenErrorWithId' },
    { kind: 'slow', delayMs: random.between(50, 1_500) },
    { kind: 'noCapacity' },
    { kind: 'visibilityLag', lagMs: random.between(1_000, 150_000) },
    { kind: 'provisioningFails', detail: 'Broken disk' },
    { kind: 'stale' },
    { kind: 'partial', omit: 'all' },
    { kind: 'falseDeleted', hiddenMs: random.between(0, 150_000) },
  ]);
}
