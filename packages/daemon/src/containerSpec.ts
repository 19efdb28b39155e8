import type { DesiredContainer } from '@stagi/contract/daemon.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import type Docker from 'dockerode';

/** Marks what is ours; what bears none of them is never touched. Two platforms may have servers of the same number. */
export const LABELS = { platform: 'stagi.platform', node: 'stagi.node', id: 'stagi.id', gen: 'stagi.gen' } as const;

/** Whose containers these are: the platform, by the key that it signs with, and its number for this server. */
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
export const STOP_SECONDS = 10;

export function containerName(slug: string): string {
  return `stagi-${slug}`;
}

/**
 * What Docker is told, built from nothing but the fields of our own and what the policy admitted: no flag, name or option
 * of a user's reaches it unnamed. Pure.
 */
export function containerOptions(
  target: DesiredContainer,
  owner: Owner,
  hostConfig: HostConfig,
): Docker.ContainerCreateOptions {
  const { spec } = target;
  return {
    name: containerName(target.slug),
    Image: spec.image,
    ...(spec.command ? { Cmd: spec.command } : {}),
    Env: spec.env.map(({ name, value }) => `${name}=${value}`),
    Hostname: target.slug,
    Labels: { ...labelsOf(owner), [LABELS.id]: String(target.id), [LABELS.gen]: String(target.gen) },
    Tty: false,
    OpenStdin: false,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    StopTimeout: STOP_SECONDS,
    ExposedPorts: Object.fromEntries(spec.ports.map((port) => [`${port.container}/tcp`, {}])),
    HostConfig: hostConfig,
  };
}
