import type { ActualTask } from '@stagi/contract/daemon.ts';
import type { DesiredTask } from '@stagi/contract/desiredState.ts';
import type { TaskFields } from '@stagi/contract/taskFields.ts';
import type { TaskStatus } from '@stagi/contract/taskRules.ts';
import type { TaskSchedule } from '@stagi/contract/taskSchedules.ts';
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Created, Json } from './columns.ts';

export interface TaskTable {
  id: GeneratedAlways<number>;
  workspace_id: number;
  project_id: number;
  instance_id: number;
  storage_id: number;
  /** Counts the tasks of its project. */
  ordinal: number;
  slug: string;
  title: string;
  input_url_path: string;
  input_path: string;
  output_path: string;
  code_path: string;
  command: string;
  commit_sha: string;
  commit_message: string;
  commit_at: Date | null;
  /** The branch or tag that was asked for. */
  commit_ref: string | null;
  image: string;
  /** numeric: a string. */
  cpus: ColumnType<string, number, number>;
  gpu_count: number;
  env_names: Generated<string[]>;
  env_sealed: string;
  time_limit_minutes: number | null;
  stop_grace_seconds: Generated<number>;
  retries: Generated<number>;
  retry_on_failure: Generated<boolean>;
  /** By `PRIORITY_ORDER`. */
  priority: Generated<number>;
  schedule_id: number | null;
  created_by: number | null;
  created_at: Created;
  status: Generated<TaskStatus>;
  status_since: Generated<Date>;
  status_seen_at: Date | null;
  status_deadline: Date | null;
  status_reason: string | null;
  /** When it may get a place: later than now while a retry waits. */
  not_before: Generated<Date>;
  /** When a later task first overtook it. */
  overtaken_at: Date | null;
  /** Its current run has, or had, a container. */
  placed: Generated<boolean>;
  /** The number of its last run. */
  run_number: Generated<number>;
  /** Micro-STAGI of its ended runs. */
  cost_micro: Generated<bigint>;
  started_at: Date | null;
  finished_at: Date | null;
  exit_code: number | null;
  /** Since when it is to end as canceled, and why. */
  cancel_asked_at: Date | null;
  cancel_reason: string | null;
}

/** An attempt to run a task. */
export interface TaskRunTable {
  id: GeneratedAlways<number>;
  task_id: number;
  number: number;
  created_at: Created;
  started_at: Date | null;
  finished_at: Date | null;
  /** Set when nothing of it is waited for any more. */
  ended_at: Date | null;
  exit_code: number | null;
  reason: string | null;
  price_micro_per_hour: Generated<bigint>;
  cost_micro: Generated<bigint>;
  gpu_ids: Generated<number[]>;
  /** Null until it has a place. */
  container_id: number | null;
  input_key_id: number | null;
  output_key_id: number | null;
  output_files: Generated<number>;
  output_bytes: Generated<bigint>;
  output_skipped: Generated<number>;
  output_phase: Generated<'none' | 'saving' | 'saved' | 'not saved'>;
  output_error: string | null;
}

/** A change of a task's status. */
export interface TaskEventTable {
  id: GeneratedAlways<bigint>;
  task_id: number;
  at: Created;
  status: TaskStatus;
  reason: string | null;
  /** The number of the run. */
  run: number | null;
  actor_id: number | null;
}

export interface TaskFavoriteTable {
  task_id: number;
  user_id: number;
  created_at: Created;
}

export interface TaskScheduleTable {
  id: GeneratedAlways<number>;
  workspace_id: number;
  project_id: number;
  title: string;
  cron: string;
  time_zone: string;
  fields: Json<TaskFields>;
  instance_id: number;
  storage_id: number;
  env_names: Generated<string[]>;
  env_sealed: string;
  /** It acts as this person. */
  created_by: number | null;
  created_at: Created;
  deleted_at: Date | null;
  paused_at: Date | null;
  /** Why the platform paused it; null: a person did. */
  paused_reason: string | null;
  next_at: Date | null;
  last_at: Date | null;
  last_result: TaskSchedule['lastResult'];
  last_reason: string | null;
  last_task_id: number | null;
}

/** What makes a container the run of a task. */
export interface TaskColumns {
  task_run_id: number | null;
  /** What its daemon needs for it, but the token. */
  task_spec: Json<Omit<DesiredTask, 'token'>> | null;
  /** What its daemon says of it. */
  task_report: Json<ActualTask> | null;
}
