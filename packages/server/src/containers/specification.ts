import type { CapabilitySet, CreateContainer, HealthCheck } from '@stagi/contract/containerFields.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { text } from '@stagi/contract/text.ts';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import type { ServerSize } from './capacity.ts';
import { DOCUMENT_MAX_BYTES, desiredBytes, openEnv, specPorts } from './desired.ts';
import { CommandError, splitCommand } from './splitCommand.ts';

type Asked = z.output<typeof CreateContainer>;

/** What a container is made of, in the words of its form: all that recreates it when it changes. */
export interface Specification
  extends Pick<Asked, 'dockerImage' | 'cpus' | 'portMappings' | 'directoryMappings' | 'restartPolicy'> {
  command: string | null;
  env: DesiredContainer['spec']['env'];
  memoryGb: number | null;
  gpuIds: number[];
  /** Null: the default. */
  shmMb: number | null;
  healthCheck: HealthCheck | null;
  /** Null: the image's own, as of the user. */
  entrypoint: string | null;
  user: string | null;
  capabilities: CapabilitySet;
}

/** As it is signed for the daemon. Throws, at the field, when the command line cannot be split. */
export function specOf(wanted: Specification): DesiredContainer['spec'] {
  return {
    image: wanted.dockerImage,
    command: parseCommand(wanted.command, 'command'),
    env: wanted.env,
    nanoCpus: Math.round(wanted.cpus * 1e9),
    memoryBytes: wanted.memoryGb === null ? null : Math.round(wanted.memoryGb * 2 ** 30),
    gpuIds: wanted.gpuIds,
    ports: specPorts(wanted.portMappings),
    directories: wanted.directoryMappings,
    restartPolicy: wanted.restartPolicy,
    ...launchOf(wanted),
    ...(wanted.shmMb === null ? {} : { shmBytes: wanted.shmMb * 2 ** 20 }),
    ...(wanted.healthCheck === null ? {} : { healthCheck: wanted.healthCheck }),
  };
}

/** Left out as far as it is what earlier agents do. */
export function launchOf({
  entrypoint,
  user,
  capabilities,
}: Pick<Specification, 'entrypoint' | 'user' | 'capabilities'>): Pick<
  DesiredContainer['spec'],
  'entrypoint' | 'user' | 'capabilities'
> {
  const words = parseCommand(entrypoint, 'entrypoint');
  return {
    ...(words && words.length > 0 ? { entrypoint: words } : {}),
    ...(user === null ? {} : { user }),
    ...(capabilities === 'hardened' ? {} : { capabilities }),
  };
}

export function specificationOf(ctx: Pick<Context, 'secrets'>, row: ContainerRow): Specification {
  return {
    dockerImage: row.image,
    command: row.command,
    env: openEnv(ctx, row),
    cpus: Number(row.cpus),
    memoryGb: row.memory_gb === null ? null : Number(row.memory_gb),
    gpuIds: row.gpu_ids,
    portMappings: row.ports,
    directoryMappings: row.directories,
    restartPolicy: row.restart_policy,
    shmMb: row.shm_mb,
    healthCheck: row.health_check,
    entrypoint: row.entrypoint,
    user: row.run_as,
    capabilities: row.capabilities,
  };
}

/** Whether only a daemon that can edit can make it as it is wanted. */
export function needsNewDaemon({ shmMb, healthCheck, env }: Specification): boolean {
  return shmMb !== null || healthCheck !== null || env.some(({ secret }) => secret);
}

/** "None" must be a choice where there are GPUs; elsewhere there is nothing to choose. */
export function chosenGpus(gpuIds: number[] | undefined, size: ServerSize): number[] {
  if (gpuIds === undefined && size.gpuIds.length > 0) throw invalid(text('GPU is required'), 'gpuIds');
  return gpuIds ?? [];
}

/** A line of blanks is no command: the image's own. */
export function commandLine(command: string | null | undefined): string | null {
  return command?.trim() ? command : null;
}

function parseCommand(command: string | null, field: 'command' | 'entrypoint'): string[] | null {
  if (command === null) return null;
  if (command.includes('\0')) throw invalid(text('The command must not contain a NUL'), field);
  try {
    return splitCommand(command);
  } catch (error) {
    if (error instanceof CommandError) throw invalid(error.message, field);
    throw error;
  }
}

export async function checkDocumentSize(ctx: Pick<Context, 'secrets'>, trx: Db, instanceId: number): Promise<void> {
  if ((await desiredBytes(ctx, trx, instanceId)) > DOCUMENT_MAX_BYTES) {
    throw invalid(
      text('The environment is too large: all containers of a server together may have about 700 KB'),
      'env',
    );
  }
}
