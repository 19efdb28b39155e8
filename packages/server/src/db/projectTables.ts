import type { ImportStatus, ProjectStatus } from '@stagi/contract/projectRules.ts';
import type { PROJECT_ACTIVITIES, PushedRef } from '@stagi/contract/projects.ts';
import type { Generated, GeneratedAlways } from 'kysely';
import type { Created, JsonWithDefault } from './columns.ts';

/** What a reconcile loop knows of a row. */
interface Leased {
  lock_token: string | null;
  lock_owner: number | null;
  lock_expires_at: Date | null;
  next_at: Date | null;
  attempts: Generated<number>;
  last_error: string | null;
}

export interface ProjectTable extends Leased {
  id: GeneratedAlways<number>;
  workspace_id: number;
  slug: string;
  title: string;
  description: string;
  /** The name of the folder of its repository; never used twice. */
  repository: Generated<string>;
  default_branch: Generated<string>;
  allow_forced_push: Generated<boolean>;
  /** Without a branch and without a tag. */
  is_empty: Generated<boolean>;
  /** Of the default branch. */
  last_commit_sha: string | null;
  last_commit_message: string | null;
  last_commit_at: Date | null;
  last_push_at: Date | null;
  /** Counts pushes: who records one sees whether another came in between. */
  pushes: Generated<number>;
  /** A push that began since may have landed without having been recorded. */
  push_begun_at: Date | null;
  size_bytes: Generated<bigint>;
  /** The ordinal of its last task. */
  task_ordinal: Generated<number>;
  created_by: number | null;
  created_at: Created;
  archived_at: Date | null;
  closed_at: Date | null;
  status: ProjectStatus;
  status_since: Generated<Date>;
  status_seen_at: Date | null;
  status_deadline: Date | null;
  status_reason: string | null;
  desired: Generated<'kept' | 'gone'>;
  gen: Generated<number>;
}

/** An import into a project: its row is its job. */
export interface ProjectImportTable extends Leased {
  id: GeneratedAlways<number>;
  project_id: number;
  url: string;
  asked_by: number | null;
  created_at: Created;
  started_at: Date | null;
  finished_at: Date | null;
  status: ImportStatus;
  status_since: Generated<Date>;
  /** When it is given up. */
  deadline: Date | null;
  phase: string | null;
  /** 0 … 1. */
  fraction: number | null;
  received_bytes: Generated<bigint>;
  error: string | null;
}

export interface ProjectInstanceTable {
  project_id: number;
  instance_id: number;
  attached_at: Generated<Date>;
  attached_by: number | null;
}

export interface ProjectActivityDetail {
  via?: 'https' | 'ssh';
  refs?: PushedRef[];
  refCount?: number;
  url?: string;
  error?: string;
}

export interface ProjectActivityTable {
  id: GeneratedAlways<bigint>;
  project_id: number;
  at: Generated<Date>;
  kind: (typeof PROJECT_ACTIVITIES)[number];
  actor_id: number | null;
  instance_id: number | null;
  detail: JsonWithDefault<ProjectActivityDetail>;
}
