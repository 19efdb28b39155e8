import { TASKS_FEATURE } from '@stagi/contract/daemon.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import type { ProjectStatus } from '@stagi/contract/projectRules.ts';
import type { StorageStatus } from '@stagi/contract/storageRules.ts';
import type { TaskStatus } from '@stagi/contract/taskRules.ts';
import { type RawBuilder, sql } from 'kysely';
import type { ContainerRow, Db, InstanceRow, TaskRow, TaskRunRow } from '../db/schema.ts';
import type { PlacedTask } from './decide.ts';
import { pricePerHour } from './servers.ts';
import type { Surroundings } from './waiting.ts';

/** SQL: whether the task `t` waits for a place. As the index `task_waiting` has it. */
export const WAITS = sql<boolean>`(not t.placed and t.status in ('new', 'scheduled', 'in queue'))`;
/** SQL: whether the task `t` has a place and has not ended. As the index `task_placed` has it. */
const HAS_PLACE = sql<boolean>`(t.placed and t.status in ('in queue', 'running', 'canceling'))`;

/** A placed task, with what its steps are written to. */
export interface PlacedFacts extends PlacedTask {
  task: Pick<TaskRow, 'id' | 'workspace_id' | 'instance_id' | 'status_reason' | 'status_deadline' | 'cost_micro'> &
    WorkspacePlan;
  run: Pick<TaskRunRow, 'id' | 'started_at' | 'price_micro_per_hour'>;
  containerId: number;
  /** Micro-STAGI; 0 for an own server. */
  pricePerHour: bigint;
}

interface AroundRow {
  kind: InstanceRow['kind'];
  server: string;
  attached: boolean;
  runs_tasks: boolean;
  project: ProjectStatus;
  storage: StorageStatus;
  disabled: boolean;
  exhausted_at: Date | null;
}

const AROUND = sql`i.kind, i.status as server, coalesce(${TASKS_FEATURE} = any(n.features), false) as runs_tasks,
  exists (select from project_instance a where a.project_id = t.project_id and a.instance_id = t.instance_id) as attached,
  p.status as project, s.status as storage, (w.disabled_at is not null or w.deleted_at is not null) as disabled,
  w.exhausted_at`;
const JOIN_AROUND = sql`join instance i on i.id = t.instance_id left join daemon_node n on n.instance_id = i.id
  join project p on p.id = t.project_id join storage s on s.id = t.storage_id join workspace w on w.id = t.workspace_id`;

const surroundingsOf = (row: AroundRow): Surroundings => ({
  server: { kind: row.kind, status: row.server, isAttached: row.attached, runsTasks: row.runs_tasks },
  project: row.project,
  storage: row.storage,
  workspace: { isDisabled: row.disabled, exhaustedAt: row.exhausted_at },
});

interface PlacedRow
  extends AroundRow,
    Pick<
      TaskRow,
      | 'id'
      | 'workspace_id'
      | 'instance_id'
      | 'status'
      | 'status_reason'
      | 'status_deadline'
      | 'cost_micro'
      | 'run_number'
      | 'retries'
      | 'retry_on_failure'
      | 'time_limit_minutes'
      | 'cancel_asked_at'
      | 'cancel_reason'
    >,
    WorkspacePlan {
  run_id: number;
  run_started_at: Date | null;
  price_micro_per_hour: bigint;
  price_per_hour: bigint;
  container_id: number;
  container_status: ContainerRow['status'];
  container_reason: string | null;
  container_since: Date;
  desired: ContainerRow['desired'];
  exit_code: number | null;
  started_at: Date | null;
  finished_at: Date | null;
  failed_step: ContainerRow['failed_step'];
  task_report: ContainerRow['task_report'];
  now: Date;
}

/** Placed tasks that meet a condition on `t`, in the order of their ids. */
export async function placedTasks(db: Db, which: RawBuilder<unknown>, limit: number): Promise<PlacedFacts[]> {
  const { rows } = await sql<PlacedRow>`select t.id, t.workspace_id, t.instance_id, t.status, t.status_reason,
      t.status_deadline, t.cost_micro, t.run_number, t.retries, t.retry_on_failure, t.time_limit_minutes,
      t.cancel_asked_at, t.cancel_reason, w.plan, w.quotas, r.id as run_id, r.started_at as run_started_at,
      r.price_micro_per_hour, ${pricePerHour('i')} as price_per_hour,
      c.id as container_id, c.status as container_status, c.status_reason as container_reason,
      c.status_since as container_since, c.desired, c.exit_code, c.started_at, c.finished_at, c.failed_step,
      c.task_report, clock_timestamp() as now, ${AROUND}
    from task t join task_run r on r.task_id = t.id and r.number = t.run_number
      join container c on c.id = r.container_id ${JOIN_AROUND}
    where ${HAS_PLACE} and (${which}) order by t.id limit ${limit}`.execute(db);
  return rows.map(placedFacts);
}

const placedFacts = (row: PlacedRow): PlacedFacts => ({
  ...surroundingsOf(row),
  status: row.status as PlacedTask['status'],
  cancelAskedAt: row.cancel_asked_at,
  cancelReason: row.cancel_reason,
  timeLimitMinutes: row.time_limit_minutes,
  retries: row.retries,
  retryOnFailure: row.retry_on_failure,
  runNumber: row.run_number,
  container: {
    status: row.container_status,
    statusReason: row.container_reason,
    statusSince: row.container_since,
    desired: row.desired,
    exitCode: row.exit_code,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    hasFailedForGood: row.failed_step?.permanent ?? false,
    report: row.task_report,
  },
  now: row.now,
  task: row,
  run: { id: row.run_id, started_at: row.run_started_at, price_micro_per_hour: row.price_micro_per_hour },
  containerId: row.container_id,
  pricePerHour: BigInt(row.price_per_hour),
});

/** Waiting tasks that share all that decides whether they may start, and what is said of them. */
export interface WaitingGroup extends Surroundings {
  workspaceId: number;
  instanceId: number;
  projectId: number;
  storageId: number;
  status: TaskStatus;
  statusReason: string | null;
  /** Their time has come: they are not held back by a retry's pause. */
  isDue: boolean;
}

/** All waiting tasks, by group; of these servers only, or of all. */
export async function waitingGroups(db: Db, instanceIds: readonly number[] | null): Promise<WaitingGroup[]> {
  const only = instanceIds ? sql`and t.instance_id = any(${[...instanceIds]}::int[])` : sql``;
  const { rows } = await sql<
    AroundRow & Pick<WaitingGroup, 'workspaceId' | 'instanceId' | 'projectId' | 'storageId'> & WaitingRow
  >`select t.workspace_id as "workspaceId", t.instance_id as "instanceId", t.project_id as "projectId",
      t.storage_id as "storageId", t.status, t.status_reason, t.due, ${AROUND}
    from (select t.workspace_id, t.instance_id, t.project_id, t.storage_id, t.status, t.status_reason,
        t.not_before <= now() as due
      from task t where ${WAITS} ${only} group by 1, 2, 3, 4, 5, 6, 7) t ${JOIN_AROUND}
    order by t.instance_id`.execute(db);
  return rows.map((row) => ({
    ...surroundingsOf(row),
    workspaceId: row.workspaceId,
    instanceId: row.instanceId,
    projectId: row.projectId,
    storageId: row.storageId,
    status: row.status,
    statusReason: row.status_reason,
    isDue: row.due,
  }));
}

interface WaitingRow {
  status: TaskStatus;
  status_reason: string | null;
  due: boolean;
}

/** What these waiting tasks depend on, by their ids. */
export async function surroundingsOfTasks(db: Db, ids: readonly number[]): Promise<Map<number, Surroundings>> {
  const { rows } = await sql<AroundRow & { id: number }>`select t.id, ${AROUND} from task t ${JOIN_AROUND}
    where t.id = any(${[...ids]}::int[]) and ${WAITS}`.execute(db);
  return new Map(rows.map((row) => [row.id, surroundingsOf(row)]));
}
