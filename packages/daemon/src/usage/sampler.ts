import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { MAX_MEASURED, type UsageSample } from '@stagi/contract/usageSample.ts';
import type { Engine } from '../docker.ts';
import { errorText, log } from '../log.ts';
import { startLoop } from '../loop.ts';
import type { ContainerCounters } from './containerStats.ts';
import { type Counters, ratesBetween } from './counters.ts';
import { diskUse } from './diskUse.ts';
import { gpuReader } from './gpuReadings.ts';
import { machineCounters } from './machineCounters.ts';

interface Source {
  engine: Pick<Engine, 'usage' | 'info'>;
  containers(): readonly ActualContainer[];
  /** Where directories of containers lie. */
  dataRoot(): Promise<string | null>;
}

/** Docker is asked about this many containers at a time. */
const CONCURRENT = 4;
const MAX_CONTAINERS = 1000;

/**
 * Samples what this server and its running containers use, at once and then in this interval, until the signal is
 * aborted. The first sample has no rates: they need two looks.
 */
export function startSampling(
  source: Source,
  { everyMs, send, signal }: { everyMs: number; send(sample: UsageSample): void; signal: AbortSignal },
): void {
  const take = sampler(source);
  let problem: string | null = null;
  const loop = startLoop(
    async () => {
      try {
        const sample = await take();
        if (!signal.aborted) send(sample);
        problem = null;
      } catch (error) {
        // Said once: it may last for days.
        if (problem !== errorText(error)) log(`the use of this server cannot be measured: ${errorText(error)}`);
        problem = errorText(error);
      }
    },
    { everyMs, gapMs: everyMs },
  );
  signal.addEventListener('abort', loop.stop, { once: true });
  if (!signal.aborted) loop.wake();
}

/** What takes one sample; rates are those since the one before. */
export function sampler({ engine, containers, dataRoot }: Source): () => Promise<UsageSample> {
  const disks = diskUse();
  const readGpus = gpuReader();
  let machineBefore: Counters | undefined;
  let containersBefore = new Map<string, ContainerCounters>();
  let dockerRoot: string | null = null;
  let gpuProblem: string | null = null;

  async function server(): Promise<UsageSample['server']> {
    dockerRoot ??= await rootOfDocker(engine);
    const space = await disks({ docker: dockerRoot, data: await dataRoot() });
    const { memoryBytes, memoryTotalBytes, ...counted } = await machineCounters();
    const now = { at: performance.now(), ...counted };
    const rates = ratesBetween(machineBefore, now);
    machineBefore = now;
    return { ...rates, memory: memoryBytes, memoryTotal: memoryTotalBytes, ...space };
  }

  async function gpus(): Promise<UsageSample['gpus']> {
    const read = await readGpus();
    if (read.problem !== null && read.problem !== gpuProblem) log(`nvidia-smi: ${read.problem}`);
    gpuProblem = read.problem;
    return read.gpus;
  }

  async function ofContainers(): Promise<UsageSample['containers']> {
    const running = [...new Map(containers().map((one) => [one.id, one])).values()]
      .filter(({ state }) => state === 'running' || state === 'paused')
      .slice(0, MAX_CONTAINERS);
    const before = containersBefore;
    const now = new Map<string, ContainerCounters>();
    const samples: UsageSample['containers'] = [];
    const waiting = [...running];
    const look = async (): Promise<void> => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const counted = await usageOf(engine, next.dockerId);
        if (!counted) continue;
        now.set(next.dockerId, counted);
        samples.push({
          id: next.id,
          ...ratesBetween(before.get(next.dockerId), counted),
          memory: counted.memoryBytes,
        });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, look));
    containersBefore = now;
    return samples;
  }

  return async () => {
    const [machine, graphics, each] = await Promise.all([server(), gpus(), ofContainers()]);
    return onlyFigures({ server: machine, gpus: graphics, containers: each });
  };
}

/** A figure that nothing can be, as of a file system with more free than it has, is not known: null. */
export function onlyFigures(sample: UsageSample): UsageSample {
  const checked = (part: object): object =>
    Object.fromEntries(
      Object.entries(part).map(([name, value]) => {
        if (typeof value === 'object' && value !== null) return [name, checked(value)];
        const isFigure = typeof value !== 'number' || (value >= 0 && value <= MAX_MEASURED);
        return [name, isFigure ? value : null];
      }),
    );
  const { server, gpus, containers } = sample;
  return {
    server: checked(server) as typeof server,
    gpus: gpus.map((gpu) => checked(gpu) as typeof gpu),
    containers: containers.map((one) => checked(one) as typeof one),
  };
}

/** Null while Docker does not answer: the inventory tells that, and the server is measured all the same. */
async function usageOf(engine: Source['engine'], dockerId: string): Promise<ContainerCounters | null> {
  return engine.usage(dockerId).catch((error: unknown) => {
    log(`the use of container ${dockerId.slice(0, 12)} is not known: ${errorText(error)}`);
    return null;
  });
}

async function rootOfDocker(engine: Source['engine']): Promise<string | null> {
  return engine.info().then(
    ({ rootDir }) => rootDir,
    () => null,
  );
}
