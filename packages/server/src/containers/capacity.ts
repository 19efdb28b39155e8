import { isPlainEnvName } from '@stagi/contract/containerFields.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { ContainerPolicy, PolicyTarget, Refusal } from '@stagi/contract/policy.ts';
import { ANY_ADDRESS, checkContainer, volumeRootsOf } from '@stagi/contract/policy.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { InstanceTable } from '../db/computeTables.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { invalid, PublicError } from '../http/errors.ts';

/** The size that the daemon reports; for a rented server at most what is paid for. */
export interface ServerSize {
  kind: InstanceTable['kind'];
  cpus: number;
  memoryBytes: number;
  gpuIds: number[];
  volumeRoots: readonly string[];
  /** The agent's own word on launching containers; null: none. One that has never joined will be new. */
  launch: MachineFacts['launch'] | null;
}

/** Null until its daemon has said what the server has, unless that is what was rented. */
export function sizeOf(
  { kind, offer }: Pick<InstanceRow, 'kind' | 'offer'>,
  facts: MachineFacts | null,
): ServerSize | null {
  if (!facts && !offer) return null;
  const least = (...numbers: (number | undefined)[]): number =>
    Math.min(...numbers.filter((number) => number !== undefined));
  return {
    kind,
    cpus: least(facts?.cpus, offer?.cpu.cores),
    memoryBytes: least(facts?.ramBytes, offer ? offer.ramGb * 2 ** 30 : undefined),
    volumeRoots: volumeRootsOf({ kind, facts }),
    launch: facts ? (facts.launch ?? null) : { init: true, capabilities: 'docker' },
    gpuIds: facts ? facts.gpus.map((gpu) => gpu.index) : Array.from({ length: offer?.gpu?.count ?? 0 }, (_, n) => n),
  };
}

/**
 * Throws, at the form's fields, when the policy of this kind of server forbids the container. `fieldNames` are those of
 * the form, where it has others.
 */
export function checkPolicy(size: ServerSize, target: PolicyTarget, fieldNames: Record<string, string> = {}): void {
  const policy: ContainerPolicy = {
    volumeRoots: size.volumeRoots,
    maxCpus: null,
    maxMemoryBytes: size.memoryBytes,
    gpuIds: size.gpuIds,
    imagePrefixes: null,
    capabilities: size.launch?.capabilities ?? 'hardened',
    portAddress: ANY_ADDRESS,
  };
  const { refusals } = checkContainer(target, policy);
  const found = [...refusals, ...refusedByAgent(size, target)].map(({ field, message }) => ({
    field: fieldNames[field] ?? field,
    message,
  }));
  if (found[0]) throw policyError(found[0], found);
}

/** Asks for nothing that an earlier agent would refuse, or leave out. */
function refusedByAgent({ launch }: ServerSize, { spec, task }: PolicyTarget): Refusal[] {
  if (launch) return [];
  const message = text('The agent of this server is too old for this: install it again');
  const fields = [
    ...(spec.entrypoint ? ['entrypoint'] : []),
    ...(spec.user === undefined ? [] : ['user']),
    ...spec.env.flatMap(({ name }, index) => (isPlainEnvName(name) ? [] : [`env.${index}.name`])),
    ...spec.directories.flatMap(({ container }, index) =>
      container.includes(':') ? [`directoryMappings.${index}.container`] : [],
    ),
    ...(['codePath', 'inputPath', 'outputPath'] as const).filter((field) => task?.[field].includes(':')),
  ];
  return fields.map((field) => ({ field, message }));
}

/**
 * Throws, at the form's fields, when the server has too few free CPUs, GPUs or host ports. Containers keep their
 * allocation until they are deleted, running or not; runs of tasks until they have ended. The server's row must be locked.
 */
export async function checkCapacity(
  trx: Db,
  instanceId: number,
  size: ServerSize,
  requested: {
    cpus: number;
    gpuIds: readonly number[];
    hostPorts: readonly number[];
    count: number;
    /** The container that is changed: what it holds is free for it. */
    changedId?: number;
  },
): Promise<void> {
  const taken = await allocated(trx, instanceId, requested.changedId);
  // In tenths, so that 0.1 + 0.2 is 0.3.
  const tenths = (cpus: number): number => Math.round(cpus * 10);
  if (tenths(taken.cpus) + tenths(requested.cpus) * requested.count > tenths(size.cpus)) {
    if (requested.changedId === undefined) throw invalid(text('No available CPUs to create a container'), 'cpus');
    throw invalid(text('CPUs: only {{free}} are free on this server'), 'cpus', {
      free: Math.max(0, tenths(size.cpus) - tenths(taken.cpus)) / 10,
    });
  }
  const gpu = requested.gpuIds.find((id) => taken.gpuIds.includes(id));
  if (gpu !== undefined || (requested.count > 1 && requested.gpuIds.length > 0)) {
    throw gpu === undefined
      ? invalid(text('Several containers cannot share a GPU: create them one by one'), 'gpuIds')
      : invalid(text('GPU {{gpu}} is in use by another container'), 'gpuIds', { gpu });
  }
  const index = requested.hostPorts.findIndex((port) => taken.hostPorts.includes(port));
  if (index >= 0) {
    throw invalid(text('Port {{port}} is in use on this server'), `portMappings.${index}.host`, {
      port: requested.hostPorts[index]!,
    });
  }
}

interface Allocated {
  cpus: number;
  gpuIds: number[];
  hostPorts: number[];
}

async function allocated(db: Db, instanceId: number, exceptId?: number): Promise<Allocated> {
  return (await allocatedOn(db, [instanceId], exceptId)).get(instanceId) ?? { cpus: 0, gpuIds: [], hostPorts: [] };
}

/**
 * What containers hold of each of these servers; one that is not in the answer has none. While a change waits, a
 * container holds what it has and what it will have.
 */
export async function allocatedOn(
  db: Db,
  instanceIds: readonly number[],
  exceptId = 0,
): Promise<ReadonlyMap<number, Allocated>> {
  const rows = await db
    .selectFrom('container')
    .select(['instance_id', 'cpus', 'gpu_ids', 'ports', 'applied_spec'])
    .where('instance_id', '=', sql<number>`any(${instanceIds}::int[])`)
    .where('deleted_at', 'is', null)
    .where('id', '<>', exceptId)
    .where('status', '<>', sql.lit('creation failed'))
    .where(sql<boolean>`(task_run_id is null or finished_at is null)`)
    .execute();
  const byServer = Map.groupBy(rows, ({ instance_id }) => instance_id);
  return new Map(
    [...byServer].map(([id, held]) => [
      id,
      {
        cpus: held.reduce((sum, row) => sum + Math.max(Number(row.cpus), row.applied_spec?.cpus ?? 0), 0),
        gpuIds: held.flatMap((row) => [...row.gpu_ids, ...(row.applied_spec?.gpuIds ?? [])]),
        hostPorts: held.flatMap((row) => [...row.ports, ...(row.applied_spec?.ports ?? [])].map((port) => port.host)),
      },
    ]),
  );
}

function policyError(first: Refusal, all: readonly Refusal[]): PublicError {
  const fieldMessages: Record<string, string> = {};
  for (const { field, message } of all) fieldMessages[field] ??= message;
  const fieldsWithError = Object.keys(fieldMessages).filter((field) => fieldMessages[field] === first.message);
  return new PublicError(400, first.message, { fieldsWithError, fieldMessages });
}
