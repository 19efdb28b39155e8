import type { DesiredContainer } from '@stagi/contract/daemon.ts';
import type { ContainerPolicy, Refusal } from '@stagi/contract/policy.ts';
import { ANY_ADDRESS, admission, RENTED_VOLUME_ROOT } from '@stagi/contract/policy.ts';
import { sql } from 'kysely';
import type { InstanceTable } from '../db/computeTables.ts';
import type { Db } from '../db/schema.ts';
import { invalid, PublicError } from '../http/errors.ts';

/** A server as large as its daemon says, and for a rented one no larger than what is paid for. */
export interface ServerSize {
  kind: InstanceTable['kind'];
  cpus: number;
  memoryBytes: number;
  gpuIds: number[];
}

/** Throws, at the form's fields, when the policy of this kind of server forbids what the containers are. */
export function checkPolicy(size: ServerSize, target: Pick<DesiredContainer, 'slug' | 'spec'>): void {
  const policy: ContainerPolicy = {
    volumeRoots: size.kind === 'rented' ? [RENTED_VOLUME_ROOT] : ['/'],
    maxCpus: null,
    maxMemoryBytes: size.memoryBytes,
    gpuIds: size.gpuIds,
    imagePrefixes: null,
    portAddress: ANY_ADDRESS,
  };
  const { refusals: found } = admission(target, policy);
  if (found[0]) throw refusedFields(found[0], found);
}

/**
 * Throws, at the form's fields, when the server has not the CPUs, GPUs or host ports left. Whatever is not deleted
 * keeps what it was promised, running or not. The server's row must be locked.
 */
export async function checkRoom(
  trx: Db,
  instanceId: number,
  size: ServerSize,
  wanted: { cpus: number; gpuIds: readonly number[]; hostPorts: readonly number[]; count: number },
): Promise<void> {
  const taken = await promised(trx, instanceId);
  // Tenths, so that 0.1 + 0.2 is 0.3.
  const tenths = (cpus: number): number => Math.round(cpus * 10);
  if (tenths(taken.cpus) + tenths(wanted.cpus) * wanted.count > tenths(size.cpus)) {
    throw invalid('No available CPUs to create a container', 'cpus');
  }
  const gpu = wanted.gpuIds.find((id) => taken.gpuIds.includes(id));
  if (gpu !== undefined || (wanted.count > 1 && wanted.gpuIds.length > 0)) {
    throw gpu === undefined
      ? invalid('Several containers cannot share a GPU: create them one by one', 'gpuIds')
      : invalid('GPU {{gpu}} is in use by another container', 'gpuIds', { gpu });
  }
  const index = wanted.hostPorts.findIndex((port) => taken.hostPorts.includes(port));
  if (index >= 0) {
    throw invalid('Port {{port}} is in use on this server', `portMappings.${index}.host`, {
      port: wanted.hostPorts[index]!,
    });
  }
}

async function promised(trx: Db, instanceId: number): Promise<{ cpus: number; gpuIds: number[]; hostPorts: number[] }> {
  const rows = await trx
    .selectFrom('container')
    .select(['cpus', 'gpu_ids', 'ports'])
    .where('instance_id', '=', instanceId)
    .where('deleted_at', 'is', null)
    .where('status', '<>', sql.lit('creation failed'))
    .execute();
  return {
    cpus: rows.reduce((sum, row) => sum + Number(row.cpus), 0),
    gpuIds: rows.flatMap((row) => row.gpu_ids),
    hostPorts: rows.flatMap((row) => row.ports.map((port) => port.host)),
  };
}

function refusedFields(first: Refusal, all: readonly Refusal[]): PublicError {
  const fieldMessages: Record<string, string> = {};
  for (const { field, message } of all) fieldMessages[field] ??= message;
  const fieldsWithError = Object.keys(fieldMessages).filter((field) => fieldMessages[field] === first.message);
  return new PublicError(400, first.message, { fieldsWithError, fieldMessages });
}
