import { text } from '@stagi/contract/text.ts';
import type Dockerode from 'dockerode';
import type { Logger } from 'pino';
import type { Readiness } from '../provider.ts';
import { callDocker, fallbackOnStatus } from './docker.ts';
import { imageTag, initPath } from './recipe.ts';

/** The rights that a container needs to run a Docker Engine inside it. */
export interface Privileges {
  name: string;
  hostConfig: Dockerode.HostConfig & { CgroupnsMode?: 'private' | 'host' };
}

const unconfined = {
  CapAdd: ['SYS_ADMIN', 'NET_ADMIN', 'SYS_PTRACE'],
  SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined', 'label=disable'],
  MaskedPaths: [],
  ReadonlyPaths: [],
};

/** From the least privileges to the most; the last set is for engines that hide the cgroup tree from containers. */
const privilegeSets: Privileges[] = [
  { name: 'capabilities', hostConfig: { ...unconfined, CgroupnsMode: 'private' } },
  { name: 'privileged', hostConfig: { Privileged: true, CgroupnsMode: 'private' } },
  {
    name: 'capabilities and the host’s cgroups',
    hostConfig: { ...unconfined, CgroupnsMode: 'host', Binds: ['/sys/fs/cgroup:/sys/fs/cgroup:rw'] },
  },
];

const probeLabel = 'cloud.stagi.probe';

export interface PrivilegeSearch {
  /** Searches once, in the background, with the machine image; after a failure retries at most once a minute. */
  state(): Readiness;
  /** `null` until the state is ready. */
  found(): Privileges | null;
}

const retryAfterMs = 60_000;

export function createPrivilegeSearch(docker: Dockerode, log: Logger): PrivilegeSearch {
  let found: Privileges | null = null;
  let failure: { reason: string; at: number } | null = null;
  let since: Date | null = null;

  async function search(): Promise<void> {
    try {
      found = await findPrivileges(docker, log);
    } catch (error) {
      failure = { reason: error instanceof Error ? error.message : String(error), at: Date.now() };
      log.error({ err: error }, 'the local cloud cannot be used');
    } finally {
      since = null;
    }
  }

  return {
    found: () => found,
    state() {
      if (found) return { state: 'ready' };
      if (!since) {
        if (failure && Date.now() < failure.at + retryAfterMs) return { state: 'unavailable', reason: failure.reason };
        since = new Date();
        void search();
      }
      return { state: 'preparing', step: text('Checking what machines may do on this host'), progress: 1, since };
    },
  };
}

/** The first set under which the machine image works here; throws with the error of each attempt. */
async function findPrivileges(docker: Dockerode, log: Logger): Promise<Privileges> {
  await removeLeftProbes(docker);
  const complaints: string[] = [];
  for (const set of privilegeSets) {
    const complaint = await probe(docker, set);
    if (complaint === null) {
      log.info({ privileges: set.name }, 'machines of the local cloud can run containers');
      return set;
    }
    complaints.push(`${set.name}: ${complaint}`);
  }
  throw new Error(`Docker cannot run inside a container of this machine (${complaints.join('; ')})`);
}

async function probe(docker: Dockerode, set: Privileges): Promise<string | null> {
  const container = await callDocker('possible', () =>
    docker.createContainer({
      Image: imageTag,
      Entrypoint: [initPath],
      Cmd: ['probe'],
      Tty: true,
      Labels: { [probeLabel]: String(Date.now()) },
      Volumes: { '/var/lib/docker': {} },
      HostConfig: { ...set.hostConfig, NetworkMode: 'none' },
    }),
  );
  try {
    const refusal = await container.start().then(
      () => null,
      (error: Error) => error.message.trim(),
    );
    if (refusal !== null) return refusal;
    const { StatusCode } = (await callDocker('none', () => container.wait())) as { StatusCode: number };
    if (StatusCode === 0) return null;
    const output = await callDocker('none', () => container.logs({ stdout: true, stderr: true, tail: 5 }));
    return output.toString().trim().replaceAll(/\s+/g, ' ') || `exit status ${StatusCode}`;
  } finally {
    await remove(container);
  }
}

/** Removes probes older than a minute, which a killed process left behind: a probe takes a second. */
async function removeLeftProbes(docker: Dockerode): Promise<void> {
  const probes = await callDocker('none', () => docker.listContainers({ all: true, filters: { label: [probeLabel] } }));
  const old = probes.filter(({ Labels }) => Number(Labels[probeLabel]) < Date.now() - 60_000);
  await Promise.all(old.map(({ Id }) => remove(docker.getContainer(Id))));
}

async function remove(container: Dockerode.Container): Promise<void> {
  await fallbackOnStatus(404, undefined, () =>
    callDocker('possible', () => container.remove({ force: true, v: true })),
  );
}
