import os from 'node:os';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { text } from '@stagi/contract/text.ts';
import type { Engine, EngineInfo } from './docker.ts';
import { findGpus } from './gpu.ts';
import { errorText } from './log.ts';
import { cpuCount, cpuName, diskSpace, memoryBytes, readOs } from './machine.ts';

/** The facts of this machine. Does not throw without Docker: the version is then empty, with a warning. */
export async function gatherFacts(engine: Engine): Promise<MachineFacts> {
  const [system, cpu, cpus, { gpus, problem }, docker] = await Promise.all([
    readOs(),
    cpuName(),
    cpuCount(),
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
    cpus,
    ramBytes: memoryBytes(),
    diskBytes: disk.total,
    diskFreeBytes: disk.free,
    gpus,
    dockerVersion: docker.info?.version ?? '',
    vulnerableRunc: docker.info ? vulnerableRunc(docker.info) : undefined,
    // The caller knows the policy.
    launch: { init: docker.info?.init ?? false, capabilities: 'hardened' },
    warnings: [
      ...(docker.problem ? [docker.problem] : []),
      ...(problem ? [problem] : []),
      ...(docker.info ? warningsOf(docker.info, gpus.length > 0) : []),
    ],
  };
}

export function warningsOf(info: EngineInfo, hasGpus: boolean): string[] {
  return [
    ...(hasGpus && !info.runtimes.includes('nvidia')
      ? [text('The NVIDIA Container Toolkit is not set up in Docker: containers cannot be given GPUs')]
      : []),
    ...(info.init
      ? []
      : [
          text(
            'Docker has no docker-init: programs without a handler of their own do not end by a stop signal, and ended processes pile up. Install Docker’s own packages, or tini',
          ),
        ]),
  ];
}

/** This machine's runc and the CVEs that its version is open to; `undefined` when it is open to none. */
export function vulnerableRunc({ runc }: Pick<EngineInfo, 'runc'>): MachineFacts['vulnerableRunc'] {
  if (runc === null) return undefined;
  const cves = runcVulnerabilities(runc);
  return cves.length > 0 ? { version: runc, cves } : undefined;
}

/**
 * For each CVE the first fixed runc of each release line, and the packages in which Debian fixed an older one
 * (security-tracker.debian.org). Other distributions may have done so too: hence "may be".
 */
const RUNC_CVES: { name: string; fixedIn: Record<string, [number, number, number]>; debianFixed: RegExp | null }[] = [
  {
    name: 'CVE-2024-21626',
    fixedIn: { '1.1': [1, 1, 12], newest: [1, 2, 0] },
    debianFixed: /^1\.1\.5\+ds1-1\+deb12u[1-9]/,
  },
  {
    name: 'CVE-2025-31133',
    fixedIn: { '1.2': [1, 2, 8], '1.3': [1, 3, 3], newest: [1, 4, 0] },
    debianFixed: null,
  },
];

function runcVulnerabilities(version: string): string[] {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version);
  if (!match) return [];
  const [major, minor, patch] = match.slice(1).map(Number) as [number, number, number];
  return RUNC_CVES.filter(({ fixedIn, debianFixed }) => {
    const first = fixedIn[`${major}.${minor}`] ?? fixedIn.newest!;
    return versionNumber([major, minor, patch]) < versionNumber(first) && !debianFixed?.test(version);
  }).map(({ name }) => name);
}

function versionNumber([major, minor, patch]: [number, number, number]): number {
  return (major * 1000 + minor) * 1000 + patch;
}

async function askDocker(engine: Engine): Promise<{ info: EngineInfo | null; problem: string | null }> {
  try {
    return { info: await engine.info(), problem: null };
  } catch (error) {
    return { info: null, problem: text('Docker is not responding: {{error}}', { error: errorText(error) }) };
  }
}
