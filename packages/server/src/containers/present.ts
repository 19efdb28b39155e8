import type { Container } from '@stagi/contract/containers.ts';
import { containerTerminalRefusal } from '@stagi/contract/terminals.ts';
import { versionOf } from '../http/editVersion.ts';
import { boundAs } from './boundPorts.ts';
import { presentUnprotected } from './protections.ts';
import type { ContainerView } from './queries.ts';
import { presentRestarts } from './restarts.ts';

export function presentContainer(row: ContainerView): Container {
  return {
    id: row.id,
    slug: row.slug,
    title: row.title,
    status: row.status,
    statusSince: row.status_since.toISOString(),
    statusSeenAt: iso(lastSeenAt(row)),
    statusDeadline: iso(row.status_deadline),
    statusReason: row.status_reason,
    exitCode: row.exit_code,
    restarts: presentRestarts(row),
    progress: row.progress,
    failedStep: presentFailedStep(row),
    pendingEdit: presentEdit(row),
    health: row.status === 'running' ? row.health : null,
    instance: {
      id: row.instance_id,
      kind: row.server_kind,
      slug: row.server_slug,
      title: row.server_title,
      status: row.server_status,
      ip: row.server_kind === 'rented' ? row.server_ip : row.node_address,
    },
    project: row.project,
    task: row.task,
    dockerImage: row.image,
    command: row.command,
    envNames: row.env_names,
    secretEnvNames: row.env_secret,
    cpus: Number(row.cpus),
    memoryGb: row.memory_gb === null ? null : Number(row.memory_gb),
    gpuIds: row.gpu_ids,
    portMappings: row.ports.map((port) => ({ ...port, boundAs: boundAs(row, port.host) })),
    unprotected: presentUnprotected(row),
    directoryMappings: row.directories,
    restartPolicy: row.restart_policy,
    shmMb: row.shm_mb,
    healthCheck: row.health_check,
    entrypoint: row.entrypoint,
    user: row.run_as,
    capabilities: row.capabilities,
    stopGraceSeconds: row.stop_grace_seconds,
    startedAt: iso(row.started_at),
    finishedAt: iso(row.finished_at),
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
    version: versionOf({ title: row.title, project: row.project?.id ?? null, spec: row.spec_no }),
    terminalRefusal: containerTerminalRefusal({
      status: row.status,
      isTask: row.task !== null,
      server: { status: row.server_status, features: row.node_features ?? [] },
    }),
  };
}

function presentFailedStep({ status, failed_step }: ContainerView): Container['failedStep'] {
  if (!failed_step || status === 'failed') return null;
  const { phase, cause, attempts, nextTryAt, waitsFor = null } = failed_step;
  return { phase, cause, attempts, nextTryAt: status === 'creation failed' ? null : nextTryAt, waitsFor };
}

function presentEdit(row: ContainerView): Container['pendingEdit'] {
  const { edit_asked_at, edit_deadline, edit_progress, edit_failed_step: failed } = row;
  if (!edit_asked_at || row.deleted_at) return null;
  return {
    since: edit_asked_at.toISOString(),
    deadline: iso(edit_deadline),
    progress: edit_progress,
    failedStep: failed && {
      phase: failed.phase,
      cause: failed.cause,
      attempts: failed.attempts,
      nextTryAt: failed.nextTryAt,
      waitsFor: failed.waitsFor ?? null,
      final: failed.permanent ?? false,
    },
  };
}

/** An inventory without changes confirms the status. */
function lastSeenAt(row: ContainerView): Date | null {
  const { status, status_seen_at, inventory_at } = row;
  if (status === 'unresponsive' || status === 'deleted') return status_seen_at;
  if (!status_seen_at || !inventory_at) return status_seen_at ?? inventory_at;
  return new Date(Math.max(status_seen_at.getTime(), inventory_at.getTime()));
}

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;
