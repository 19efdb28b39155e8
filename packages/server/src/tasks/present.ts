import type { TaskFields } from '@stagi/contract/taskFields.ts';
import { outputPrefix, PRIORITY_ORDER, TaskPriority } from '@stagi/contract/taskRules.ts';
import type { Task, TaskDetail, TaskEvent, TaskRun } from '@stagi/contract/tasks.ts';
import { presentPrice } from '../billing/price.ts';
import type { Config } from '../config/config.ts';
import type { TaskRow } from '../db/schema.ts';
import type { RunView, TaskView } from './find.ts';

interface Reader {
  config: Config;
}

export function presentTask({ config }: Reader, row: TaskView): Task {
  return {
    id: row.id,
    ordinal: row.ordinal,
    slug: row.slug,
    title: row.title,
    status: row.status,
    statusReason: row.status_reason,
    statusSince: row.status_since.toISOString(),
    statusSeenAt: iso(row.seen_at),
    statusDeadline: iso(row.status_deadline),
    project: row.project,
    instance: row.instance,
    storage: row.storage,
    ...workOf(row),
    commit: { sha: row.commit_sha, message: row.commit_message, at: iso(row.commit_at), ref: row.commit_ref },
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
    startedAt: iso(row.started_at),
    finishedAt: iso(row.finished_at),
    exitCode: row.exit_code,
    cost: presentPrice(config, row.cost_micro + row.running_micro),
    pricePerHour: presentPrice(config, row.price_per_hour),
    position: row.position,
    runCount: row.run_number,
    favorite: row.favorite,
    outputUri: `s3://${row.bucket}/${outputPrefix(row.id)}`,
    schedule: row.schedule,
  };
}

export function presentDetail(
  reader: Reader,
  row: TaskView,
  runs: readonly RunView[],
  timeline: TaskEvent[],
): TaskDetail {
  return { ...presentTask(reader, row), runs: runs.map((run) => presentRun(reader, run)), timeline };
}

function presentRun({ config }: Reader, row: RunView): TaskRun {
  return {
    number: row.number,
    createdAt: row.created_at.toISOString(),
    startedAt: iso(row.started_at),
    finishedAt: iso(row.finished_at),
    exitCode: row.exit_code,
    reason: row.reason,
    cost: presentPrice(config, row.cost_micro + row.running_micro),
    gpuIds: row.gpu_ids,
    container: row.container && { id: row.container.id, slug: row.container.slug, status: row.container.status },
    progress: progressOf(row),
    output: outputOf(row),
  };
}

function progressOf({ ended_at, container }: RunView): TaskRun['progress'] {
  if (ended_at || !container) return null;
  if (container.task_report?.phase === 'saving')
    return { phase: 'saving', detail: container.task_report.error, fraction: null };
  return container.progress;
}

/** While its daemon uploads, what that has said last. */
function outputOf({ ended_at, container, ...run }: RunView): TaskRun['output'] {
  const report = ended_at ? null : container?.task_report;
  if (report && report.phase !== 'preparing' && report.phase !== 'ready')
    return {
      phase: report.phase,
      files: report.files,
      bytes: report.bytes,
      skipped: report.skipped,
      error: report.error,
    };
  return {
    phase: run.output_phase,
    files: run.output_files,
    bytes: Number(run.output_bytes),
    skipped: run.output_skipped,
    error: run.output_error,
  };
}

/** What the form shows again. `commit`: what was asked for. */
export function presentFields(row: TaskRow, commit: string): TaskFields {
  return {
    projectId: row.project_id,
    instanceId: row.instance_id,
    storageId: row.storage_id,
    ...workOf(row),
    commit,
  };
}

/** What a task runs, with what, and what becomes of its end. */
const workOf = (row: TaskRow) => ({
  inputUrlPath: row.input_url_path,
  inputPath: row.input_path,
  outputPath: row.output_path,
  codePath: row.code_path,
  command: row.command,
  image: row.image,
  cpus: Number(row.cpus),
  gpuCount: row.gpu_count,
  envNames: row.env_names,
  timeLimitMinutes: row.time_limit_minutes,
  stopGraceSeconds: row.stop_grace_seconds,
  retries: row.retries,
  retryOnFailure: row.retry_on_failure,
  priority: priorityOf(row.priority),
});

const priorityOf = (order: number): TaskPriority =>
  TaskPriority.options.find((priority) => PRIORITY_ORDER[priority] === order) ?? 'normal';

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;
