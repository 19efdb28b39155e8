import { api } from '@stagi/contract/api.ts';
import { until } from '../waitUntil.ts';
import type { Furnished } from './furnish.ts';
import { METRICS_CSV, REPORT_JSON } from './madeUpFiles.ts';

/** Of tasks in the order in which they were made. */
export interface Tasks {
  evaluated: number;
  trained: number;
  failed: number;
  training: number;
  queued: number;
  /** The containers of their runs. */
  runs: Record<number, number>;
}

/** Tasks that have ended well, one that has failed, one that runs, one that waits for room, and a schedule. */
export async function runTasks({ maya, servers, storages, projects, machines }: Furnished): Promise<Tasks> {
  const { client } = maya;
  const usual = {
    projectRef: { id: projects.inspector },
    storageRef: { id: storages.datasets },
    inputUrlPath: 'welds/',
    inputPath: '/input',
    outputPath: '/output',
    commit: 'main',
    env: [{ name: 'SEED', value: '7' }],
  };
  const evaluation = {
    ...usual,
    title: 'Evaluate the large backbone',
    instanceRef: { id: servers.workstation },
    command: 'python evaluate.py --split test',
    image: 'python:3.14-slim',
    cpus: 4,
    gpuCount: 1,
  };
  const training = {
    ...usual,
    title: 'Train the large backbone',
    instanceRef: { id: servers.training },
    command: 'python train.py --config configs/large.yaml',
    image: 'pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime',
    cpus: 16,
    gpuCount: 2,
  };
  const runs: Record<number, number> = {};
  const start = async (of: typeof evaluation): Promise<number> => {
    const { entity } = await client(api.tasks.create, of);
    runs[entity.id] = await until(`task ${entity.id} has a place`, 60_000, async () => {
      const { entity: now } = await client(api.tasks.view, { id: entity.id });
      return now.runs[0]?.container?.id;
    });
    await until(`task ${entity.id} runs`, 60_000, async () => {
      const { entity: now } = await client(api.tasks.view, { id: entity.id });
      return now.status === 'running';
    });
    return entity.id;
  };
  const end = async (id: number, exitCode: number, output: Record<string, string>): Promise<void> => {
    const files = Object.keys(output).length;
    for (const [key, body] of Object.entries(output)) {
      const { link } = await client(api.storages.uploadLink, {
        id: storages.datasets,
        key: `tasks/${id}/output/${key}`,
      });
      await fetch(link, { method: 'PUT', body });
    }
    const machine = [machines.workstation, machines.training].find(({ daemon }) =>
      daemon.inventory.containers.some((container) => container.id === runs[id]),
    );
    const bytes = Object.values(output).join('').length;
    machine?.say(runs[id]!, {
      state: 'exited',
      exitCode,
      finishedAt: new Date().toISOString(),
      task: { phase: 'saved', files, bytes, skipped: 0, error: null, timedOut: false, interrupted: false },
    });
    await until(`task ${id} has ended`, 60_000, async () => {
      const { entity } = await client(api.tasks.view, { id });
      return ['done', 'failed'].includes(entity.status);
    });
  };
  const output = { 'metrics.csv': METRICS_CSV, 'report.json': REPORT_JSON, 'plots/recall.svg': '<svg/>' };
  const failed = await start({
    ...evaluation,
    title: 'Evaluate the baseline',
    command: 'python evaluate.py --split tset',
  });
  await end(failed, 1, {});
  const evaluated = await start(evaluation);
  await end(evaluated, 0, output);
  const trained = await start({
    ...training,
    title: 'Train the baseline',
    command: 'python train.py --config configs/base.yaml',
  });
  await end(trained, 0, { 'epoch-20.pt': 'pt', 'epoch-40.pt': 'pt' });
  const running = await start(training);
  const { entity: queued } = await client(api.tasks.create, { ...training, title: 'Train with more glare' });
  await client(api.tasks.createSchedule, {
    ...evaluation,
    title: 'Nightly evaluation',
    cron: '30 2 * * *',
    timeZone: 'Europe/Oslo',
  });
  await client(api.tasks.favorite, { id: evaluated, favorite: true });
  return { evaluated, trained, failed, training: running, queued: queued.id, runs };
}
