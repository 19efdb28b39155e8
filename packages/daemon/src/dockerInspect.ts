import { ContainerHealth, type Protection } from '@stagi/contract/containerFields.ts';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { CONTAINER_NETWORK } from '@stagi/contract/hostConfig.ts';
import { ANY_ADDRESS } from '@stagi/contract/policy.ts';
import type Docker from 'dockerode';
import { z } from 'zod';
import { BOUND, LABELS } from './containerSpec.ts';
import { statusOf } from './dockerErrors.ts';
import type { SeenContainer } from './plan.ts';
import { withTimeout } from './timing.ts';

const TIMEOUT_MS = 15_000;

export type Shown = Omit<SeenContainer, 'begunGen' | 'areVolumesBound' | 'task'>;

/**
 * A container as Docker shows it; null when there is none. Docker does not show how the run before the current one
 * ended: `lastExitCode` tells.
 */
export async function inspect(
  docker: Docker,
  dockerId: string,
  lastExitCode: (dockerId: string) => number | undefined,
): Promise<Shown | null> {
  try {
    const { State, Id, Config, HostConfig, RestartCount } = await withTimeout(
      TIMEOUT_MS,
      'inspecting a container',
      (abortSignal) => docker.getContainer(dockerId).inspect({ abortSignal }),
    );
    const state = stateOf(State.Status);
    const lastCode = RestartCount > 0 ? lastExitCode(Id) : undefined;
    return {
      id: Number(Config.Labels[LABELS.id]),
      createdGen: Number(Config.Labels[LABELS.gen] ?? 0),
      specNo: Number(Config.Labels[LABELS.spec] ?? 1),
      dockerId: Id,
      state,
      exitCode: state === 'exited' || state === 'dead' || state === 'restarting' ? State.ExitCode : null,
      oomKilled: State.OOMKilled,
      error: State.Error === '' ? null : State.Error,
      startedAt: timeOf(State.StartedAt),
      finishedAt: timeOf(State.FinishedAt),
      restarts: RestartCount,
      ...(lastCode !== undefined && { lastExitCode: lastCode }),
      ports: boundPorts(HostConfig.PortBindings),
      protections: protectionsOf(HostConfig, Config.Labels),
      ...healthOf(State),
    };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

function protectionsOf({ NetworkMode }: Docker.HostConfig, labels: Record<string, string>): Protection[] {
  return [
    ...(NetworkMode === CONTAINER_NETWORK ? (['network'] as const) : []),
    ...(labels[LABELS.volumes] === BOUND ? (['volumes'] as const) : []),
  ];
}

/** As it was created; Docker takes no address for any. */
function boundPorts(bindings: unknown): NonNullable<ActualContainer['ports']> {
  return Object.entries(PortBindings.parse(bindings ?? {})).flatMap(([inside, outside]) =>
    (outside ?? []).map(({ HostIp, HostPort }) => ({
      host: Number(HostPort),
      container: Number.parseInt(inside, 10),
      address: HostIp || ANY_ADDRESS,
    })),
  );
}

const PortBindings = z.record(z.string(), z.array(z.object({ HostIp: z.string(), HostPort: z.string() })).nullable());

/** A container that is stopped keeps the last word of its check. */
function healthOf({
  Running,
  Health,
}: {
  Running: boolean;
  Health?: { Status: string };
}): Pick<ActualContainer, 'health'> {
  const health = ContainerHealth.safeParse(Health?.Status).data;
  return Running && health ? { health } : {};
}

/** Docker writes the year 1 for "never". */
function timeOf(time: string): string | null {
  return time === '' || time.startsWith('0001-') ? null : time;
}

function stateOf(status: string): ActualContainer['state'] {
  switch (status) {
    case 'created':
    case 'running':
    case 'paused':
    case 'restarting':
    case 'removing':
    case 'exited':
    case 'dead':
      return status;
    default:
      throw new Error(`Docker shows a container in the unknown state ${status}`);
  }
}
