import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { text } from '@stagi/contract/text.ts';
import type { DesiredStore } from '../desiredState.ts';
import { PolicyError } from '../policyError.ts';
import { RefusedStream } from '../streams/streamServer.ts';
import { type Folder, openRoot } from './openBeneath.ts';

export interface VolumeDeps {
  desired: DesiredStore;
  /** Throws PolicyError when this server does not allow the container now. */
  authorize(container: DesiredContainer): Promise<unknown>;
}

/** Opens the host directory that this container has at `volume`: what the desired state lists and the policy allows. */
export async function openVolume(
  { desired, authorize }: VolumeDeps,
  containerId: number,
  volume: string,
): Promise<Folder> {
  const container = desired.current()?.containers.find(({ id }) => id === containerId);
  const mapping = container?.spec.directories.find((one) => one.container === volume);
  if (!container || container.state === 'absent' || container.task || !mapping)
    throw new RefusedStream(404, text('There is no such volume on this server'));
  try {
    await authorize(container);
  } catch (error) {
    if (error instanceof PolicyError) throw new RefusedStream(403, error.message);
    throw error;
  }
  return openRoot(mapping.host);
}
