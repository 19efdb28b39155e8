import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { nameOf } from '../catalogue/catalogue.ts';
import type { EndpointView } from './queries.ts';
import { modelNameOf } from './served.ts';
import { hasEnded, stateOf } from './state.ts';

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
    lastLine: hasEnded(row) ? row.last_line : null,
    checkedAt: row.checked_at?.toISOString() ?? null,
    answeredAt: row.answered_at?.toISOString() ?? null,
    modelName: modelNameOf(row),
    hasKey: row.key_sealed !== null,
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
  };
}
