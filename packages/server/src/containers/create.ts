import type { CreateContainer } from '@stagi/contract/containerFields.ts';
import { containerCan } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import type { Ref } from '@stagi/contract/page.ts';
import { text } from '@stagi/contract/text.ts';
import type { z } from 'zod';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import { requireManagement, type Viewer, visibleContainer, visibleServer } from './access.ts';
import { checkCapacity, checkPolicy } from './capacity.ts';
import { openEnv } from './desired.ts';
import { type FormerEnv, fillEnv, NO_ENV } from './fillEnv.ts';
import { insertContainer } from './insert.ts';
import { AGENT_TOO_OLD, lockServer, type ReadyServer } from './lockServer.ts';
import { presentContainer } from './present.ts';
import { lockProjectOfContainer } from './project.ts';
import { viewsByIds } from './queries.ts';
import {
  checkDocumentSize,
  chosenGpus,
  commandLine,
  needsNewDaemon,
  type Specification,
  specOf,
} from './specification.ts';
import { announceServer } from './status.ts';

type Caller = Context & Viewer & { user: { id: number } };
type Asked = z.output<typeof CreateContainer>;

const SLUG_MAX = 40;

/** Inserts `count` containers, all or none, and notifies the server's daemon. Returns them in order. */
export function createContainers(ctx: Caller, asked: Asked): Promise<Container[]> {
  return inTransaction(ctx.db, async (trx) => {
    const viewer = { db: trx, workspace: ctx.workspace };
    const { id: instanceId, kind } = await visibleServer(viewer, asked.instanceRef);
    requireManagement(ctx, kind);
    const projectId = asked.projectRef ? await lockProjectOfContainer(viewer, asked.projectRef) : null;
    const former = asked.cloneOf ? await envOfOriginal(ctx, viewer, asked.cloneOf) : NO_ENV;
    const server = await lockServer(trx, instanceId);
    if (!server) {
      throw invalid(text('Containers can only be created for server instances that are online'), 'instanceRef');
    }
    const wanted: Specification & { stopGraceSeconds: number } = {
      ...asked,
      command: commandLine(asked.command),
      env: fillEnv(asked.env, former, instanceId),
      memoryGb: asked.memoryGb ?? null,
      gpuIds: chosenGpus(asked.gpuIds, server.size),
      shmMb: asked.shmMb ?? null,
      healthCheck: asked.healthCheck ?? null,
      entrypoint: commandLine(asked.entrypoint),
      user: asked.user || null,
      capabilities: asked.capabilities ?? server.size.launch?.capabilities ?? 'hardened',
    };
    if (needsNewDaemon(wanted) && !server.canEdit) throw invalid(AGENT_TOO_OLD, 'instanceRef');
    const spec = specOf(wanted);
    checkPolicy(server.size, { slug: asked.slug, spec });
    await checkCapacity(trx, instanceId, server.size, {
      cpus: wanted.cpus,
      gpuIds: wanted.gpuIds,
      hostPorts: wanted.portMappings.map((port) => port.host),
      count: asked.count,
    });
    const ids: number[] = [];
    for (const name of namesOf(asked))
      ids.push(await insert(ctx, trx, { server, instanceId, projectId }, wanted, { ...name, spec }));
    await checkDocumentSize(ctx, trx, instanceId);
    await announce(trx, 'node', { instanceId });
    for (const id of ids) {
      await announce(trx, 'changed', { entity: 'docker-container', id, workspaceId: ctx.workspace.id });
    }
    await announceServer(trx, instanceId);
    crashPoint('docker-container/create.stored');
    return (await viewsByIds(trx, ctx.workspace.id, ids)).map(presentContainer);
  });
}

/** Variables of the container that is cloned. Only who may manage it gets them. */
async function envOfOriginal(ctx: Caller, viewer: Viewer, ref: Ref): Promise<FormerEnv> {
  const original = await visibleContainer(viewer, ref);
  requireManagement(viewer, original.instance.kind);
  const verdict = containerCan.clone(original);
  if (!verdict.allowed) throw refused(verdict.reason);
  const row = await viewer.db
    .selectFrom('container')
    .select(['slug', 'env_sealed'])
    .where('id', '=', original.id)
    .executeTakeFirstOrThrow();
  return { variables: openEnv(ctx, row), instanceId: original.instance.id, isHidden: false };
}

function namesOf({ slug, title, count }: Asked): { slug: string; title: string }[] {
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
  { server, instanceId, projectId }: { server: ReadyServer; instanceId: number; projectId: number | null },
  wanted: Specification & { stopGraceSeconds: number },
  { slug, title, spec }: { slug: string; title: string; spec: DesiredContainer['spec'] },
): Promise<number> {
  const id = await insertContainer(
    ctx,
    trx,
    server.size,
    { slug, spec },
    {
      workspace_id: ctx.workspace.id,
      instance_id: instanceId,
      project_id: projectId,
      title,
      created_by: ctx.user.id,
      command: wanted.command,
      cpus: wanted.cpus,
      memory_gb: wanted.memoryGb,
      ports: JSON.stringify(wanted.portMappings),
      shm_mb: wanted.shmMb,
      stop_grace_seconds: wanted.stopGraceSeconds,
      entrypoint: wanted.entrypoint,
      health_check: wanted.healthCheck && JSON.stringify(wanted.healthCheck),
    },
  );
  if (id === null) throw invalid(text('This Unique ID is taken'), 'slug');
  return id;
}
