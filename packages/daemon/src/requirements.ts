import type { Engine } from './docker.ts';
import { findGpus } from './gpu.ts';
import { errorText } from './log.ts';
import { canRun, readOs } from './machine.ts';

export interface Requirement {
  what: string;
  /** Null when met; else what is wrong and what to do. */
  missing: string | null;
}

export interface Allowances {
  cpu: boolean;
  anyLinux: boolean;
}

/** Checks everything a server needs before it can join. */
export async function checkRequirements(engine: Engine, allow: Allowances): Promise<Requirement[]> {
  const found: Requirement[] = [
    {
      what: 'Linux on x86-64',
      missing: process.platform === 'linux' && process.arch === 'x64' ? null : 'stagid runs only there',
    },
    { what: 'root', missing: process.getuid?.() === 0 ? null : 'run this as root, for example with sudo' },
    await checkDocker(engine),
    { what: 'Git', missing: (await canRun('git', '--version')) ? null : 'git is not installed: apt-get install git' },
  ];
  if (!allow.anyLinux) found.push(await checkUbuntu());
  if (!allow.cpu) found.push(...(await checkNvidia(engine)));
  return found;
}

async function checkDocker(engine: Engine): Promise<Requirement> {
  try {
    const { version } = await engine.info();
    return { what: `Docker ${version}`, missing: null };
  } catch (error) {
    const installed = await canRun('docker', '--version');
    const advice = installed ? 'start it: systemctl start docker' : 'install it: apt-get install docker.io';
    return { what: 'Docker', missing: `Docker does not answer (${errorText(error)}); ${advice}` };
  }
}

async function checkUbuntu(): Promise<Requirement> {
  const system = await readOs();
  const missing = `this is ${system.name}; to join all the same, pass --allow-any-linux`;
  return { what: 'Ubuntu', missing: system.id === 'ubuntu' ? null : missing };
}

async function checkNvidia(engine: Engine): Promise<Requirement[]> {
  const { gpus, problem } = await findGpus();
  if (gpus.length === 0) {
    const missing = `${problem ?? 'no NVIDIA driver was found (nvidia-smi)'}; to join without GPUs, pass --allow-cpu`;
    return [{ what: 'NVIDIA GPU', missing }];
  }
  const runtimes = await engine.info().then(
    (info) => info.runtimes,
    // Docker has a requirement of its own above.
    (): string[] => [],
  );
  return [
    { what: `${gpus.length} × ${gpus[0]!.name}`, missing: null },
    {
      what: 'NVIDIA Container Toolkit',
      missing: runtimes.includes('nvidia')
        ? null
        : 'Docker has no "nvidia" runtime: install nvidia-container-toolkit and run nvidia-ctk runtime configure',
    },
  ];
}
