import os from 'node:os';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { text } from '@stagi/contract/text.ts';
import type { Engine, EngineInfo } from './docker.ts';
import { findGpus } from './gpu.ts';
import { errorText } from './log.ts';
import { cpuName, diskSpace, memoryBytes, readOs } from './machine.ts';

/** The facts of this machine. Does not throw without Docker: the version is then empty, with a warning. */
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
  const holes = info.runc === null ? [] : runcVulnerabilities(info.runc);
  if (holes.length > 0)
    warnings.push(`runc ${info.runc} may be open to ${holes.join(' and ')}: update the system's packages`);
  if (hasGpus && !info.runtimes.includes('nvidia'))
    warnings.push('The NVIDIA Container Toolkit is not set up in Docker: containers cannot be given GPUs');
  return warnings;
}

/** For each CVE the first fixed runc of each release line. Distributions patch older ones too: hence "may be". */
const RUNC_CVES: { name: string; fixedIn: Record<string, [number, number, number]> }[] = [
  { name: 'CVE-2024-21626', fixedIn: { '1.1': [1, 1, 12], newest: [1, 2, 0] } },
  { name: 'CVE-2025-31133', fixedIn: { '1.2': [1, 2, 8], '1.3': [1, 3, 3], newest: [1, 4, 0] } },
];

export function runcVulnerabilities(version: string): string[] {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version);
  if (!match) return [];
  const [major, minor, patch] = match.slice(1).map(Number) as [number, number, number];
  return RUNC_CVES.filter(({ fixedIn: mended }) => {
    const first = mended[`${major}.${minor}`] ?? mended.newest!;
    return versionNumber([major, minor, patch]) < versionNumber(first);
  }).map(({ name }) => name);
}

function versionNumber([major, minor, patch]: [number, number, number]): number {
  return (major * 1000 + minor) * 1000 + patch;
}

async function askDocker(engine: Engine): Promise<{ info: EngineInfo | null; problem: string | null }> {
  try {
    return { info: await engine.info(), problem: null };
  } catch (error) {
    return { info: null, problem: text('Docker does not answer: {{error}}', { error: errorText(error) }) };
  }
}
