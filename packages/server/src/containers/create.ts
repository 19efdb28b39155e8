import type { Container, CreateContainer } from '@stagi/contract/containers.ts';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { DesiredContainer } from '@stagi/contract/daemon.ts';
import { text } from '@stagi/contract/text.ts';
import type { z } from 'zod';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { requireManagement, type Viewer, visibleServer } from './access.ts';
import { checkCapacity, checkPolicy, type ServerSize, sizeOf } from './capacity.ts';
import { DOCUMENT_MAX_BYTES, desiredBytes, specPorts } from './desired.ts';
import { fillEnv } from './fillEnv.ts';
import { insertContainer } from './insert.ts';
import { presentContainer } from './present.ts';
import { lockProjectOfContainer } from './project.ts';
import { viewsByIds } from './queries.ts';
import { replaceContainer } from './replace.ts';
import { CommandError, splitCommand } from './splitCommand.ts';
import { announceServer } from './status.ts';

type Caller = Context & Viewer & { user: { id: number } };
/** The input with everything that it leaves to the server or to the replaced container. */
type Input = Omit<z.output<typeof CreateContainer>, 'env' | 'gpuIds'> &
  Pick<DesiredContainer['spec'], 'env' | 'gpuIds'>;

const SLUG_MAX = 40;

/** Inserts `count` containers, all or none, and notifies the server's daemon. Returns them in order. */
export function createContainers(ctx: Caller, asked: z.output<typeof CreateContainer>): Promise<Container[]> {
  return inTransaction(ctx.db, async (trx) => {
    const server = await visibleServer({ ...ctx, db: trx }, asked.instanceRef);
    requireManagement(ctx, server.kind);
    const projectId = asked.projectRef ? await lockProjectOfContainer({ ...ctx, db: trx }, asked.projectRef) : null;
    const command = parseCommand(asked.command);
    const size = await lockServer(trx, server.id);
    const former = asked.replaces ? await replaceContainer(ctx, trx, asked.replaces) : [];
    const input = { ...asked, env: fillEnv(asked.env, former), gpuIds: chosenGpus(asked.gpuIds, size) };
    const spec = specOf(input, command);
    checkPolicy(size, { slug: input.slug, spec });
    await checkCapacity(trx, server.id, size, {
      cpus: input.cpus,
      gpuIds: input.gpuIds,
      hostPorts: input.portMappings.map((port) => port.host),
      count: input.count,
    });
    const ids: number[] = [];
    for (const name of namesOf(input))
      ids.push(await insert(ctx, trx, { size, instanceId: server.id, projectId }, input, { ...name, spec }));
    await checkDocumentSize(ctx, trx, server.id);
    await announce(trx, 'node', { instanceId: server.id });
    for (const id of ids) {
      await announce(trx, 'changed', { entity: 'docker-container', id, workspaceId: ctx.workspace.id });
    }
    await announceServer(trx, server.id);
    crashPoint('docker-container/create.stored');
    return (await viewsByIds(trx, ctx.workspace.id, ids)).map(presentContainer);
  });
}

/** "None" must be a choice where there are GPUs; elsewhere there is nothing to choose. */
function chosenGpus(gpuIds: number[] | undefined, size: ServerSize): number[] {
  if (gpuIds === undefined && size.gpuIds.length > 0) throw invalid(text('GPU is required'), 'gpuIds');
  return gpuIds ?? [];
}

/** The lock keeps two creations on one server from getting the same CPU or port. */
async function lockServer(trx: Db, instanceId: number): Promise<ServerSize> {
  const instance = await trx
    .selectFrom('instance')
    .select(['kind', 'status', 'offer'])
    .where('id', '=', instanceId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const node = await trx
    .selectFrom('daemon_node')
    .select('facts')
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  const size = node?.facts && sizeOf(instance, node.facts);
  if (instance.status !== 'online' || !size) {
    throw invalid(text('Containers can only be created for server instances that are online'), 'instanceRef');
  }
  return size;
}

function parseCommand(command: string | undefined): string[] | null {
  if (!command?.trim()) return null;
  if (command.includes('\0')) throw invalid(text('The command must not contain a NUL'), 'command');
  try {
    return splitCommand(command);
  } catch (error) {
    if (error instanceof CommandError) throw invalid(error.message, 'command');
    throw error;
  }
}

async function checkDocumentSize(ctx: Caller, trx: Db, instanceId: number): Promise<void> {
  if ((await desiredBytes(ctx, trx, instanceId)) > DOCUMENT_MAX_BYTES) {
    throw invalid(
      text('The environment is too large: all containers of a server together may have about 700 KB'),
      'env',
    );
  }
}

function specOf(input: Input, command: string[] | null): DesiredContainer['spec'] {
  return {
    image: input.dockerImage,
    command,
    env: input.env,
    nanoCpus: Math.round(input.cpus * 1e9),
    memoryBytes: input.memoryGb === undefined ? null : Math.round(input.memoryGb * 2 ** 30),
    gpuIds: input.gpuIds,
    ports: specPorts(input.portMappings),
    directories: input.directoryMappings,
    restartPolicy: input.restartPolicy,
  };
}

function namesOf({ slug, title, count }: Input): { slug: string; title: string }[] {
  if (count === 1) return [{ slug, title }];
  if (`${slug}-${count}`.length > SLUG_MAX) {
    throw invalid(text('Unique ID must leave room for a number: at most {{most}} characters'), 'slug', {
      most: SLUG_MAX - `-${count}`.length,
    });
  }
  return Array.from({ length: count }, (_, index) => ({
    slug: `${slug}-${index + 1}`,
    title: `${title} ${index + 1}`,
  }));
}

async function insert(
  ctx: Caller,
  trx: Db,
  { size, instanceId, projectId }: { size: ServerSize; instanceId: number; projectId: number | null },
  input: Input,
  { slug, title, spec }: { slug: string; title: string; spec: DesiredContainer['spec'] },
): Promise<number> {
  const id = await insertContainer(
    ctx,
    trx,
    size,
    { slug, spec },
    {
      workspace_id: ctx.workspace.id,
      instance_id: instanceId,
      project_id: projectId,
      title,
      created_by: ctx.user.id,
      command: input.command?.trim() ? input.command : null,
      cpus: input.cpus,
      memory_gb: input.memoryGb ?? null,
      ports: JSON.stringify(input.portMappings),
    },
  );
  if (id === null) throw invalid(text('This Unique ID is taken'), 'slug');
  return id;
}
