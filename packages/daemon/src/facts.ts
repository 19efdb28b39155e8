import os from 'node:os';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { Engine, EngineInfo } from './docker.ts';
import { findGpus } from './gpu.ts';
import { reasonOf } from './log.ts';
import { cpuName, diskSpace, memoryBytes, readOs } from './machine.ts';

/** What this machine is. Never throws for Docker's sake: without it the version is empty and a warning says so. */
export async function gatherFacts(engine: Engine): Promise<MachineFacts> {
  const [system, cpu, { gpus, problem }, docker] = await Promise.all([
    readOs(),
    cpuName(),
    findGpus(),
    askDocker(engine),
  ]);
  const disk = await diskSpace(docker.info?.rootDir ?? '/').catch(() => diskSpace('/'));
  return {
    hostname: os.hostname(),
    os: system.name,
    kernel: os.release(),
    arch: os.arch(),
    cpuName: cpu,
    cpus: os.availableParallelism(),
    ramBytes: memoryBytes(),
    diskBytes: disk.total,
    diskFreeBytes: disk.free,
    gpus,
    dockerVersion: docker.info?.version ?? '',
    warnings: [
      ...(docker.problem ? [docker.problem] : []),
      ...(problem ? [problem] : []),
      ...(docker.info ? warningsOf(docker.info, gpus.length > 0) : []),
    ],
  };
}

export function warningsOf(info: EngineInfo, hasGpus: boolean): string[] {
  const warnings: string[] = [];
  const holes = info.runc === null ? [] : openHoles(info.runc);
  if (holes.length > 0)
    warnings.push(`runc ${info.runc} may be open to ${holes.join(' and ')}: update the system's packages`);
  if (hasGpus && !info.runtimes.includes('nvidia'))
    warnings.push('The NVIDIA Container Toolkit is not set up in Docker: containers cannot be given GPUs');
  return warnings;
}

/** Each hole and, by release line, the first runc without it. Distributions also mend older ones: hence "may be". */
const HOLES: { name: string; mended: Record<string, [number, number, number]> }[] = [
  { name: 'CVE-2024-21626', mended: { '1.1': [1, 1, 12], newest: [1, 2, 0] } },
  { name: 'CVE-2025-31133', mended: { '1.2': [1, 2, 8], '1.3': [1, 3, 3], newest: [1, 4, 0] } },
];

export function openHoles(version: string): string[] {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version);
  if (!match) return [];
  const [major, minor, patch] = match.slice(1).map(Number) as [number, number, number];
  return HOLES.filter(({ mended }) => {
    const first = mended[`${major}.${minor}`] ?? mended.newest!;
    return rank([major, minor, patch]) < rank(first);
  }).map(({ name }) => name);
}

function rank([major, minor, patch]: [number, number, number]): number {
  return (major * 1000 + minor) * 1000 + patch;
}

async function askDocker(engine: Engine): Promise<{ info: EngineInfo | null; problem: string | null }> {
  try {
    return { info: await engine.info(), problem: null };
  } catch (error) {
    return { info: null, problem: `Docker does not answer: ${reasonOf(error)}` };
  }
}
