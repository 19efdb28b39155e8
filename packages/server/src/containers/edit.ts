import { isDeepStrictEqual } from 'node:util';
import type { EditContainer } from '@stagi/contract/containerFields.ts';
import { containerCan, isToRecreate } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import type { Ref } from '@stagi/contract/page.ts';
import { text } from '@stagi/contract/text.ts';
import { sql, type Updateable } from 'kysely';
import type { z } from 'zod';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { AppliedSpec, ContainerTable } from '../db/computeTables.ts';
import { inTransaction } from '../db/pool.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { requireVersion } from '../http/editVersion.ts';
import { refused } from '../http/errors.ts';
import { lockManagedContainer, requireManagement, type Viewer, visibleContainer } from './access.ts';
import { checkCapacity, checkPolicy } from './capacity.ts';
import { sealEnv } from './desired.ts';
import { fillEnv } from './fillEnv.ts';
import { AGENT_TOO_OLD, lockServer, type ReadyServer } from './lockServer.ts';
import { lockProjectOfContainer } from './project.ts';
import {
  checkDocumentSize,
  commandLine,
  needsNewDaemon,
  type Specification,
  specificationOf,
  specOf,
} from './specification.ts';
import { announceServer, DEADLINE_MINUTES, transitionContainer } from './status.ts';

type Caller = Context & Viewer;
type Asked = z.output<typeof EditContainer>;

/**
 * Changes a container. A changed specification gets a new number, under which its daemon recreates it; the same one again
 * makes the daemon try a failed change again at once. It also gets a new number when only recreating binds the ports as
 * their visibility says, or protects the container.
 */
export function editContainer(ctx: Caller, asked: Asked): Promise<Container> {
  return inTransaction(ctx.db, async (trx) => {
    const viewer = { db: trx, workspace: ctx.workspace };
    const { container, server, row } = await lockForEdit(viewer, asked.ref);
    const verdict = containerCan.edit(container);
    if (!verdict.allowed || !server) throw refused(verdict.allowed ? SERVER_AWAY : verdict.reason);
    requireVersion(asked.version, container.version);
    await changeNames(viewer, row, asked);
    await changeGrace(viewer.db, row, asked);
    const before = specificationOf(ctx, row);
    const wanted = wantedOf(row.instance_id, asked, before);
    const isNewSpec = !isDeepStrictEqual(wanted, before) || isToRenew(container, asked);
    if (isNewSpec || isToTryAgain(row)) {
      await checkWanted(trx, row, server, wanted);
      const specNo = isNewSpec ? row.last_spec_no + 1 : row.spec_no;
      await storeEdit(trx, row, {
        ...columnsOf(ctx, row.slug, wanted),
        spec_no: specNo,
        last_spec_no: Math.max(row.last_spec_no, specNo),
      });
      await checkDocumentSize(ctx, trx, row.instance_id);
      await announceServer(trx, row.instance_id);
    }
    await announce(trx, 'changed', { entity: 'docker-container', id: row.id, workspaceId: ctx.workspace.id });
    return visibleContainer(viewer, { id: row.id });
  });
}

/**
 * Goes back to the specification that the server has, under its number: a container that was not touched yet is left
 * alone. What it holds was kept for it.
 */
export function undoEdit(ctx: Caller, ref: Ref): Promise<Container> {
  return inTransaction(ctx.db, async (trx) => {
    const viewer = { db: trx, workspace: ctx.workspace };
    const { container, row } = await lockForEdit(viewer, ref);
    const verdict = containerCan.undoEdit(container);
    if (!verdict.allowed) throw refused(verdict.reason);
    if (!row.applied_spec) throw new Error(`container ${row.id} has no specification to go back to`);
    await storeEdit(trx, row, columnsOfApplied(row.applied_spec));
    await announceServer(trx, row.instance_id);
    await announce(trx, 'changed', { entity: 'docker-container', id: row.id, workspaceId: ctx.workspace.id });
    return visibleContainer(viewer, { id: row.id });
  });
}

const SERVER_AWAY = text('Its server must be online');

/** The server is locked before its container, as everywhere. */
async function lockForEdit(
  viewer: Viewer,
  ref: Ref,
): Promise<{ container: Container; server: ReadyServer | null; row: ContainerRow }> {
  const seen = await visibleContainer(viewer, ref);
  requireManagement(viewer, seen.instance.kind);
  const server = await lockServer(viewer.db, seen.instance.id);
  const container = await lockManagedContainer(viewer, { id: seen.id });
  const row = await viewer.db.selectFrom('container').selectAll().where('id', '=', seen.id).executeTakeFirstOrThrow();
  return { container, server, row };
}

/** Title and project are known to the platform only. */
async function changeNames(viewer: Viewer, row: ContainerRow, { title, projectRef }: Asked): Promise<void> {
  const project_id =
    projectRef === undefined ? row.project_id : projectRef && (await lockProjectOfContainer(viewer, projectRef));
  await viewer.db
    .updateTable('container')
    .set({ title: title ?? row.title, project_id })
    .where('id', '=', row.id)
    .execute();
}

/** It is no part of the specification: its server needs to know it, and recreates nothing. */
async function changeGrace(trx: Db, row: ContainerRow, { stopGraceSeconds }: Asked): Promise<void> {
  if (stopGraceSeconds === undefined || stopGraceSeconds === row.stop_grace_seconds) return;
  await trx.updateTable('container').set({ stop_grace_seconds: stopGraceSeconds }).where('id', '=', row.id).execute();
  await announce(trx, 'node', { instanceId: row.instance_id });
}

function wantedOf(instanceId: number, asked: Asked, before: Specification): Specification {
  return {
    dockerImage: asked.dockerImage ?? before.dockerImage,
    command: asked.command === undefined ? before.command : commandLine(asked.command),
    env: asked.env
      ? fillEnv(asked.env, { variables: before.env, instanceId, isHidden: false }, instanceId)
      : before.env,
    cpus: asked.cpus ?? before.cpus,
    memoryGb: asked.memoryGb === undefined ? before.memoryGb : asked.memoryGb,
    gpuIds: asked.gpuIds ?? before.gpuIds,
    portMappings: asked.portMappings ?? before.portMappings,
    directoryMappings: asked.directoryMappings ?? before.directoryMappings,
    restartPolicy: asked.restartPolicy ?? before.restartPolicy,
    shmMb: asked.shmMb === undefined ? before.shmMb : asked.shmMb,
    healthCheck: asked.healthCheck === undefined ? before.healthCheck : asked.healthCheck,
    entrypoint: asked.entrypoint === undefined ? before.entrypoint : commandLine(asked.entrypoint),
    user: asked.user === undefined ? before.user : asked.user || null,
    capabilities: asked.capabilities ?? before.capabilities,
  };
}

/** A change under way recreates it by itself. Names alone interrupt nothing. */
function isToRenew(
  container: Container,
  { ref: _, version: __, title, projectRef, stopGraceSeconds, ...asked }: Asked,
): boolean {
  const isForNames = title !== undefined || projectRef !== undefined || stopGraceSeconds !== undefined;
  const isForNamesOnly = isForNames && Object.values(asked).every((value) => value === undefined);
  return isToRecreate(container) && container.pendingEdit === null && !isForNamesOnly;
}

/** Nothing of it runs: the creation failed, or the change or the creation is being tried again. */
function isToTryAgain({ status, failed_step, edit_failed_step }: ContainerRow): boolean {
  return edit_failed_step !== null || status === 'creation failed' || (status === 'creating' && failed_step !== null);
}

async function checkWanted(trx: Db, row: ContainerRow, server: ReadyServer, wanted: Specification): Promise<void> {
  if (!server.canEdit && (existsOnServer(row) || needsNewDaemon(wanted))) throw refused(AGENT_TOO_OLD);
  checkPolicy(server.size, { slug: row.slug, spec: specOf(wanted) });
  await checkCapacity(trx, row.instance_id, server.size, {
    cpus: wanted.cpus,
    gpuIds: wanted.gpuIds,
    hostPorts: wanted.portMappings.map((port) => port.host),
    count: 1,
    changedId: row.id,
  });
}

/** What does not exist yet is created as it is wanted now. */
function existsOnServer({ status }: ContainerRow): boolean {
  return status !== 'creating' && status !== 'creation failed';
}

type Columns = Updateable<ContainerTable>;

/** The columns are those of the specification that it shall have. */
export async function storeEdit(trx: Db, row: ContainerRow, columns: Columns): Promise<void> {
  if (!existsOnServer(row)) {
    await trx
      .updateTable('container')
      .set({ ...columns, status_deadline: deadlineOf(), progress: null, failed_step: null })
      .where('id', '=', row.id)
      .execute();
    await transitionContainer(trx, row.id, 'creating', { reason: null, desired: 'running' });
    return;
  }
  await trx
    .updateTable('container')
    .set({
      ...columns,
      gen: sql<number>`gen + 1`,
      applied_spec: JSON.stringify(row.applied_spec ?? appliedOf(row)),
      edit_asked_at: sql<Date>`now()`,
      edit_deadline: deadlineOf(),
      edit_progress: null,
      edit_failed_step: null,
    })
    .where('id', '=', row.id)
    .execute();
  await announce(trx, 'node', { instanceId: row.instance_id });
}

const deadlineOf = () => sql<Date>`now() + ${`${DEADLINE_MINUTES.creating} minutes`}::interval`;

function columnsOf(ctx: Pick<Context, 'secrets'>, slug: string, wanted: Specification): Columns {
  return {
    image: wanted.dockerImage,
    command: wanted.command,
    cpus: wanted.cpus,
    memory_gb: wanted.memoryGb,
    gpu_ids: wanted.gpuIds,
    ports: JSON.stringify(wanted.portMappings),
    directories: JSON.stringify(wanted.directoryMappings),
    restart_policy: wanted.restartPolicy,
    shm_mb: wanted.shmMb,
    health_check: wanted.healthCheck && JSON.stringify(wanted.healthCheck),
    entrypoint: wanted.entrypoint,
    run_as: wanted.user,
    capabilities: wanted.capabilities,
    env_names: wanted.env.map(({ name }) => name),
    env_secret: wanted.env.filter(({ secret }) => secret).map(({ name }) => name),
    env_sealed: sealEnv(ctx, slug, wanted.env),
  };
}

function appliedOf(row: ContainerRow): AppliedSpec {
  return {
    specNo: row.spec_no,
    image: row.image,
    command: row.command,
    cpus: Number(row.cpus),
    memoryGb: row.memory_gb === null ? null : Number(row.memory_gb),
    gpuIds: row.gpu_ids,
    ports: row.ports,
    directories: row.directories,
    restartPolicy: row.restart_policy,
    shmMb: row.shm_mb,
    healthCheck: row.health_check,
    entrypoint: row.entrypoint,
    user: row.run_as,
    capabilities: row.capabilities,
    envNames: row.env_names,
    envSecret: row.env_secret,
    envSealed: row.env_sealed,
  };
}

function columnsOfApplied(applied: AppliedSpec): Columns {
  return {
    spec_no: applied.specNo,
    image: applied.image,
    command: applied.command,
    cpus: applied.cpus,
    memory_gb: applied.memoryGb,
    gpu_ids: applied.gpuIds,
    ports: JSON.stringify(applied.ports),
    directories: JSON.stringify(applied.directories),
    restart_policy: applied.restartPolicy,
    shm_mb: applied.shmMb,
    health_check: applied.healthCheck && JSON.stringify(applied.healthCheck),
    entrypoint: applied.entrypoint ?? null,
    run_as: applied.user ?? null,
    capabilities: applied.capabilities ?? 'hardened',
    env_names: applied.envNames,
    env_secret: applied.envSecret,
    env_sealed: applied.envSealed,
  };
}
