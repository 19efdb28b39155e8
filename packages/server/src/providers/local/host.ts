import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type Dockerode from 'dockerode';
import { callDocker } from './docker.ts';
import { label } from './machine.ts';
import type { Host } from './offers.ts';

const gb = 1024 ** 3;

/** States in which a machine uses its memory. */
const holdsMemory = new Set(['created', 'running', 'restarting', 'paused']);

export async function readHost(docker: Dockerode): Promise<Host> {
  const info = (await callDocker('none', () => docker.info())) as { DockerRootDir: string; MemTotal: number };
  const machines = await callDocker('none', () =>
    docker.listContainers({ all: true, filters: { label: [label.memory] } }),
  );
  return {
    cpuName: cpus()[0]?.model.trim() || 'CPU',
    cores: availableParallelism(),
    memoryGb: Math.min(info.MemTotal, totalmem()) / gb,
    diskFreeGb: (await freeGb(info.DockerRootDir)) ?? 0,
    committedGb: machines
      .filter(({ State }) => holdsMemory.has(State))
      .reduce((sum, { Labels }) => sum + Number(Labels[label.memory]), 0),
  };
}

/** Free space of the file system of `dir`; `null` where this user has no access. */
export async function freeGb(dir: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(dir);
    return (bavail * bsize) / gb;
  } catch (error) {
    if (hasCode(error, 'EACCES') || hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** The upstream name servers, as containers cannot reach a resolver on this machine's loopback. */
export async function upstreamNameServers(): Promise<string[]> {
  for (const file of ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']) {
    const servers = [...(await textOf(file)).matchAll(/^nameserver\s+(\S+)/gm)].map((match) => match[1]!);
    const reachable = servers.filter((server) => !server.startsWith('127.') && server !== '::1');
    if (reachable.length > 0) return reachable;
  }
  return [];
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
