import { api } from '@stagi/contract/api.ts';
import type { Random } from '../random.ts';
import { percentile } from '../random.ts';
import { retryUntilAnswered } from '../retryUntilAnswered.ts';
import { until } from '../until.ts';
import { type CrashCase, cloudFault, groupIntoLifecycles, replyModeOf, STRAY_STEP } from './crashCases.ts';
import { aRentedServer, findLeakedMachines, OPERATION, RENTED_STEPS, type RentedStep } from './rented.ts';
import { aSelfHostedServer, OWN_STEPS, type OwnStep } from './selfHosted.ts';
import { openStage, type Stage } from './stage.ts';

export interface CrashResult {
  cells: number;
  /** Crash points that were not reached. */
  missed: string[];
  orphans: number;
  duplicates: number;
  /** From each crash to the requested state. */
  convergedMs: number[];
  surprises: string[];
}

const HIT_WITHIN_MS = 30_000;

/** Runs every case once, on `lanes` platforms in parallel. */
export async function runCrashCases(cells: readonly CrashCase[], random: Random, lanes: number): Promise<CrashResult> {
  const result: CrashResult = { cells: 0, missed: [], orphans: 0, duplicates: 0, convergedMs: [], surprises: [] };
  const lives = random.shuffle([
    ...groupIntoLifecycles(cells, 'rented', random).map((life) => (stage: Stage) => liveRented(stage, life, result)),
    ...groupIntoLifecycles(cells, 'own', random).map((life) => (stage: Stage) => liveOwn(stage, life, result)),
    ...groupIntoLifecycles(cells, STRAY_STEP, random).map((life) => (stage: Stage) => liveStray(stage, life, result)),
  ]);
  await Promise.all(
    Array.from({ length: Math.min(lanes, lives.length) }, async (_, lane) => {
      const stage = await openStage(`crash${lane}-${Date.now().toString(36)}`, { SWEEP_SECONDS: '1' });
      try {
        for (let live = lives.pop(); live; live = lives.pop()) await live(stage);
        const { orphans, duplicates } = await findLeakedMachines(stage);
        result.orphans += orphans.length;
        result.duplicates += duplicates.length;
        result.surprises.push(...stage.surprises);
      } finally {
        await stage.close();
      }
    }),
  );
  return result;
}

export function formatCrashResult(result: CrashResult): string {
  const { cells, missed, orphans, duplicates, convergedMs, surprises } = result;
  const p95 = percentile(convergedMs, 0.95);
  const most = Math.max(...convergedMs);
  return (
    `n = ${cells} deaths, ${missed.length} places missed, ${orphans} orphans, ${duplicates} duplicates, ` +
    `${surprises.length} other exits, converged p95 ${Math.round(p95)} ms, max ${Math.round(most)} ms`
  );
}

/** Arms the crash point, requests the step, and measures from the crash to the requested state. */
async function die(
  stage: Stage,
  cell: CrashCase,
  result: CrashResult,
  asked: () => Promise<void>,
  reached: () => Promise<void>,
): Promise<void> {
  const death = stage.nextDeath(HIT_WITHIN_MS);
  stage.arm(cell.point);
  const asking = asked();
  const died = await Promise.race([death, asking.then(() => death)]);
  result.cells += 1;
  if (died?.point !== cell.point) {
    result.missed.push(`${cell.point} × ${cell.outcome}`);
    stage.arm(null);
  }
  await asking;
  await reached();
  if (!died) return;
  const tookMs = Date.now() - died.at;
  result.convergedMs.push(tookMs);
  if (process.env.FAULT_PROGRESS) console.log(`  ${stage.name} ${cell.point} × ${cell.outcome}: ${tookMs} ms`);
}

async function liveRented(stage: Stage, life: readonly CrashCase[], result: CrashResult): Promise<void> {
  const server = await aRentedServer(stage);
  const { control } = stage.cloud;
  for (const step of RENTED_STEPS) {
    const cell = life.find((one) => one.step === `rented ${step}`);
    const asked = (): Promise<void> => server.ask(step);
    const reached = (): Promise<void> => server.reached(step);
    if (!cell) {
      await asked();
      await reached();
      continue;
    }
    const fault = cloudFault(cell);
    if (fault) await control.fault(OPERATION[step], fault);
    await die(stage, cell, result, asked, reached);
    await control.clearFaults();
  }
  // A machine that the cloud lists late is still listed for as long.
  await until(`nothing is left of server ${server.id()}`, async () => {
    const { machines } = await control.report();
    return machines.every(({ tags, state }) => tags.resource !== String(server.id()) || state === 'gone');
  });
  const { machines } = await control.report();
  const made = machines.filter(({ tags, token }) => tags.resource === String(server.id()) && token !== null);
  result.duplicates += Math.max(0, made.length - 1);
}

async function liveOwn(stage: Stage, life: readonly CrashCase[], result: CrashResult): Promise<void> {
  const server = await aSelfHostedServer(stage);
  try {
    for (const step of OWN_STEPS) {
      const cell = life.find((one) => one.step === `own ${step}`);
      const asked = (): Promise<void> => server.ask(step as OwnStep);
      const reached = (): Promise<void> => server.reached(step);
      if (cell) {
        server.behave(replyModeOf(cell));
        await die(stage, cell, result, asked, reached);
      } else {
        await asked();
        await reached();
      }
      server.behave('at once');
    }
    await until('the container is gone', async () => server.superfluous().orphans === 0, 20_000).catch(() => null);
    const { orphans, duplicates } = server.superfluous();
    result.orphans += orphans;
    result.duplicates += duplicates;
  } finally {
    await server.close();
  }
}

/** A machine of a server that is closed: the sweep finds it, the operator has it deleted. */
async function liveStray(stage: Stage, life: readonly CrashCase[], result: CrashResult): Promise<void> {
  for (const cell of life) {
    const server = await aRentedServer(stage);
    for (const step of ['rent', 'terminate'] satisfies RentedStep[]) {
      await server.ask(step);
      await server.reached(step);
    }
    const name = `stagi-${stage.name}-${server.id()}`;
    const tags = { env: stage.name, resource: String(server.id()) };
    const { control } = stage.cloud;
    const fault = cloudFault(cell);
    if (fault) await control.fault(cell.point === 'sweep.deleted' ? 'terminate' : 'list', listFault(cell) ?? fault);
    const asked = async (): Promise<void> => {
      await control.stray({ name, offerId: 'sim-cpu-4', tags });
      await decideToDelete(stage, name);
    };
    const gone = async (): Promise<void> => {
      await until(`the stray ${name} is gone`, async () => {
        const { machines } = await control.report();
        return machines.every((machine) => machine.name !== name || machine.state === 'gone');
      });
    };
    await die(stage, cell, result, asked, gone);
    await control.clearFaults();
  }
}

/** The fault of a list, which has no effect: it fails, hangs, or is stale. */
function listFault({ point, outcome }: CrashCase) {
  if (point !== 'sweep.noted') return null;
  return outcome === 'late' ? ({ kind: 'stale' } as const) : null;
}

async function decideToDelete({ customer: { client } }: Stage, name: string): Promise<void> {
  const id = await until('the sweep finds the stray', async () => {
    const answer = await retryUntilAnswered(() =>
      client(api.strays.list, { entityFilterRequest: { queryString: name } }),
    );
    return answer?.entities.find((stray) => stray.decision === null)?.id;
  });
  await retryUntilAnswered(
    () => client(api.strays.delete, { id }),
    async () => true,
  );
}
