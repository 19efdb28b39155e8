import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { Project, ProjectImport } from '@stagi/contract/projects.ts';
import type { Config } from '../config/config.ts';
import type { ProjectRow } from '../db/schema.ts';
import { versionOf } from '../http/editVersion.ts';
import type { ImportView, ProjectView } from './find.ts';
import { httpsAddress, sshAddress } from './gitAddresses.ts';

/** After this many failed attempts in a row the last error is shown. */
const ATTEMPTS_BEFORE_REASON = 3;

interface Reader {
  config: Config;
  workspace: { permissions: readonly Permission[] };
}

export function presentProject({ config, workspace }: Reader, row: ProjectView): Project {
  return {
    id: row.id,
    slug: row.slug,
    title: row.title,
    description: row.description,
    status: row.status,
    statusSince: row.status_since.toISOString(),
    statusDeadline: row.status_deadline?.toISOString() ?? null,
    statusReason: row.status_reason ?? (row.attempts >= ATTEMPTS_BEFORE_REASON ? row.last_error : null),
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
    archivedAt: row.archived_at?.toISOString() ?? null,
    defaultBranch: row.default_branch,
    isEmpty: row.is_empty,
    lastCommit: presentLastCommit(row),
    lastPushAt: row.last_push_at?.toISOString() ?? null,
    // Tasks are never deleted.
    taskCount: row.task_ordinal,
    instanceCount: row.instance_count,
    containerCount: row.container_count,
    sizeBytes: Number(row.size_bytes),
    gitHttps: httpsAddress(config, row),
    gitSsh: sshAddress(config, row),
    allowForcedPush: row.allow_forced_push,
    version: projectVersion(row),
    canPush: holdsAny(workspace.permissions, ['PROJECT_MANAGEMENT']) && projectCan.push(actionable(row)).allowed,
    import: row.import && presentImport(row.import),
  };
}

/** The version of what its form changes. The rest is switched one at a time, beside the form. */
export const projectVersion = ({ title, description }: ProjectRow): string => versionOf({ title, description });

/** What the rules of the contract ask of a project. */
export const actionable = (row: ProjectView) => ({ status: row.status, isEmpty: row.is_empty, import: row.import });

function presentLastCommit({
  last_commit_sha: sha,
  last_commit_message,
  last_commit_at,
}: ProjectRow): Project['lastCommit'] {
  if (sha === null) return null;
  return { sha, message: last_commit_message ?? '', at: last_commit_at!.toISOString() };
}

function presentImport(row: ImportView): ProjectImport {
  return {
    url: row.url,
    status: row.status,
    phase: row.phase,
    fraction: row.fraction,
    receivedBytes: row.received_bytes,
    error: row.error,
    createdAt: new Date(row.created_at).toISOString(),
    startedAt: iso(row.started_at),
    finishedAt: iso(row.finished_at),
    deadline: iso(row.deadline),
  };
}

const iso = (time: string | null): string | null => (time === null ? null : new Date(time).toISOString());
