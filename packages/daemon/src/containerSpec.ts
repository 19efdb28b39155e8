import { STOP_GRACE } from '@stagi/contract/containerFields.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import type Docker from 'dockerode';
import { z } from 'zod';

/** Docker labels of our containers; others are never touched. Two platforms may have servers of the same number. */
export const LABELS = {
  platform: 'stagi.platform',
  node: 'stagi.node',
  id: 'stagi.id',
  gen: 'stagi.gen',
  spec: 'stagi.spec',
  /** Names of the variables whose values are masked in logs: a JSON list; of earlier daemons, separated by spaces. */
  secret: 'stagi.secret',
  /** `BOUND`: what it mounts are folders of ours (`volumes/containerFolders.ts`). */
  volumes: 'stagi.volumes',
} as const;
export const BOUND = 'bound';

/** The owner of containers: the platform, by the key that it signs with, and its number for this server. */
export interface Owner {
  platform: string;
  node: string;
}

export function ownerOf({ node, commandKey }: { node: string; commandKey: { x: string } }): Owner {
  return { platform: commandKey.x.slice(0, 16), node };
}

export function labelsOf({ platform, node }: Owner): Record<string, string> {
  return { [LABELS.platform]: platform, [LABELS.node]: node };
}

/** The time that the programs of a container have to end, in seconds. */
export function graceOf({ state, stopGraceSeconds }: Pick<DesiredContainer, 'state' | 'stopGraceSeconds'>): number {
  return state === 'absent' ? 0 : (stopGraceSeconds ?? STOP_GRACE.former);
}

/** When Docker itself goes down, with the machine: that does not wait for minutes. */
const SHUTDOWN_SECONDS = 60;

/** Containers of earlier versions, and documents of earlier platforms, have no number. */
export function specNoOf({ specNo }: { specNo?: number | undefined }): number {
  return specNo ?? 1;
}

export function containerName(slug: string): string {
  return `stagi-${slug}`;
}

/**
 * The options for Docker's "create container", built only from the fields named here and what the policy admitted. No
 * flag, name or option of a user is passed through. Pure.
 */
export function containerOptions(
  target: DesiredContainer,
  owner: Owner,
  hostConfig: HostConfig & Pick<Docker.HostConfig, 'Init'>,
): Docker.ContainerCreateOptions {
  const { spec, task } = target;
  return {
    name: containerName(target.slug),
    Image: spec.image,
    ...(spec.command ? { Cmd: spec.command } : {}),
    ...(spec.entrypoint ? { Entrypoint: spec.entrypoint } : {}),
    ...(spec.user === undefined ? {} : { User: spec.user }),
    ...(task ? { Entrypoint: ['/bin/sh', '-c'], WorkingDir: task.codePath } : {}),
    Env: spec.env.map(({ name, value }) => `${name}=${value}`),
    Hostname: target.slug,
    Labels: {
      ...labelsOf(owner),
      [LABELS.id]: String(target.id),
      [LABELS.gen]: String(target.gen),
      [LABELS.spec]: String(specNoOf(target)),
      [LABELS.secret]: namesOfSecrets(spec.env),
      [LABELS.volumes]: BOUND,
    },
    Tty: false,
    OpenStdin: false,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    StopTimeout: Math.min(target.stopGraceSeconds ?? STOP_GRACE.former, SHUTDOWN_SECONDS),
    ExposedPorts: Object.fromEntries(spec.ports.map((port) => [`${port.container}/tcp`, {}])),
    ...(spec.healthCheck ? { Healthcheck: dockerHealthCheck(spec.healthCheck) } : {}),
    HostConfig: hostConfig,
  };
}

function namesOfSecrets(env: DesiredContainer['spec']['env']): string {
  return JSON.stringify(env.flatMap(({ name, secret }) => (secret ? [name] : [])));
}

/** The names in the label. Those of earlier daemons begin with no bracket. */
export function secretNames(label = ''): string[] {
  return label.startsWith('[') ? z.array(z.string()).parse(JSON.parse(label)) : label.split(' ');
}

/** Docker counts in nanoseconds. */
function dockerHealthCheck(check: NonNullable<DesiredContainer['spec']['healthCheck']>): Docker.HealthConfig {
  return {
    Test: ['CMD-SHELL', check.command],
    Interval: check.intervalSeconds * 1e9,
    Timeout: check.timeoutSeconds * 1e9,
    Retries: check.retries,
    StartPeriod: check.startPeriodSeconds * 1e9,
  };
}
