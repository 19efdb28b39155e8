import type { Engine } from './docker.ts';
import { findGpus } from './gpu.ts';
import { reasonOf } from './log.ts';
import { answers, readOs } from './machine.ts';

export interface Requirement {
  what: string;
  /** Null when met; else what is wrong and what to do. */
  missing: string | null;
}

export interface Allowances {
  cpu: boolean;
  anyLinux: boolean;
}

/** Everything a server needs before it may join, each with its own verdict. */
export async function checkRequirements(engine: Engine, allow: Allowances): Promise<Requirement[]> {
  const found: Requirement[] = [
    {
      what: 'Linux on x86-64',
      missing: process.platform === 'linux' && process.arch === 'x64' ? null : 'stagid runs only there',
    },
    { what: 'root', missing: process.getuid?.() === 0 ? null : 'run this as root, for example with sudo' },
    await docker(engine),
    { what: 'Git', missing: (await answers('git', '--version')) ? null : 'git is not installed: apt-get install git' },
  ];
  if (!allow.anyLinux) found.push(await ubuntu());
  if (!allow.cpu) found.push(...(await nvidia(engine)));
  return found;
}

async function docker(engine: Engine): Promise<Requirement> {
  try {
    const { version } = await engine.info();
    return { what: `Docker ${version}`, missing: null };
  } catch (error) {
    const installed = await answers('docker', '--version');
    const advice = installed ? 'start it: systemctl start docker' : 'install it: apt-get install docker.io';
    return { what: 'Docker', missing: `Docker does not answer (${reasonOf(error)}); ${advice}` };
  }
}

async function ubuntu(): Promise<Requirement> {
  const system = await readOs();
  const missing = `this is ${system.name}; to join all the same, pass --allow-any-linux`;
  return { what: 'Ubuntu', missing: system.id === 'ubuntu' ? null : missing };
}

async function nvidia(engine: Engine): Promise<Requirement[]> {
  const { gpus, problem } = await findGpus();
  if (gpus.length === 0) {
    const missing = `${problem ?? 'no NVIDIA driver was found (nvidia-smi)'}; to join without GPUs, pass --allow-cpu`;
    return [{ what: 'NVIDIA GPU', missing }];
  }
  const runtimes = await engine.info().then(
    (info) => info.runtimes,
    // Docker not answering is a requirement of its own, told above.
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
