import { ANSWER_WITHIN_MINUTES, type EndpointStatus, type ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { text } from '@stagi/contract/text.ts';
import { nameOf } from '../catalogue/catalogue.ts';
import type { EndpointView } from './queries.ts';
import { modelNameOf } from './served.ts';

export function presentEndpoint(row: EndpointView): ModelEndpoint {
  const { container, facts } = row;
  const gpu = facts?.gpus[0];
  return {
    id: row.id,
    model: { id: row.model_id, title: row.model_title, name: nameOf(row.model_id) },
    quality: row.quality,
    precision: row.precision,
    repository: row.repository,
    variant: row.variant,
    engine: row.engine,
    gpuCount: row.gpu_count,
    context: row.context,
    instance: {
      id: row.instance_id,
      kind: row.server_kind,
      slug: row.server_slug,
      title: row.server_title,
      status: row.server_status,
      gpu: gpu ? { name: gpu.name, memoryGb: gpu.memoryMb / 1024 } : null,
    },
    container: container && {
      id: container.id,
      slug: container.slug,
      title: container.title,
      status: container.status,
      progress: container.progress && { phase: container.progress.phase, fraction: container.progress.fraction },
    },
    port: row.host_port,
    visibility: container?.ports.find(({ host }) => host === row.host_port)?.visibility ?? null,
    ...stateOf(row),
    checkedAt: row.checked_at?.toISOString() ?? null,
    answeredAt: row.answered_at?.toISOString() ?? null,
    modelName: modelNameOf(row),
    hasKey: row.key_sealed !== null,
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
  };
}

type State = Pick<ModelEndpoint, 'status' | 'reason' | 'since' | 'deadline'>;

/** What is known of it: from the row, from its container, and from when its engine answered. */
function stateOf(row: EndpointView): State {
  const { container } = row;
  if (row.failed_reason !== null) return state('failed', row.failed_at ?? row.created_at, row.failed_reason);
  if (!container)
    return state('waiting for server', row.created_at, row.server_reason, row.server_deadline?.toISOString());
  const { status, status_since: since } = container;
  switch (status) {
    case 'creating':
    case 'starting':
    case 'rebooting':
      return state('creating', since, container.failed_cause);
    case 'running':
      return ofRunning(row, container.started_at ?? since);
    case 'unresponsive':
      return state('not answering', since, text('Its server cannot be reached'));
    case 'stopping':
    case 'stopped':
    case 'terminating':
    case 'deleted':
      return state('stopped', since);
    case 'exited':
      return state('failed', since, text('Its container has ended: its log says why'));
    case 'failed':
    case 'creation failed':
      return state('failed', since, container.status_reason ?? container.failed_cause);
    default:
      throw new Error(`unknown status ${status satisfies never}`);
  }
}

/** An engine that has not answered since its container started is loading its model. */
function ofRunning({ answered_at, checked_at, check_error }: EndpointView, startedAt: string): State {
  const started = new Date(startedAt);
  const deadline = new Date(started.getTime() + ANSWER_WITHIN_MINUTES * 60_000);
  const hasAnswered = answered_at !== null && answered_at >= started;
  if (hasAnswered && check_error === null) return state('ready', answered_at);
  if (hasAnswered) return state('not answering', answered_at, check_error);
  const asked = checked_at !== null && checked_at >= started ? check_error : null;
  if (deadline < new Date())
    return state('failed', deadline, asked ?? text('Its engine did not answer in time: its log says why'));
  return state('loading', started, asked, deadline.toISOString());
}

const state = (
  status: EndpointStatus,
  since: Date | string,
  reason: string | null = null,
  deadline: string | null = null,
): State => ({ status, reason, since: new Date(since).toISOString(), deadline });
