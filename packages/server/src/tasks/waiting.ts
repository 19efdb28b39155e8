import { type ProjectStatus, projectCan } from '@stagi/contract/projectRules.ts';
import type { StorageStatus } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import { ZERO_BALANCE } from '../billing/zero.ts';
import type { InstanceTable } from '../db/computeTables.ts';

/** What a task depends on besides itself. The same for all tasks of one server, project and storage. */
export interface Surroundings {
  server: { kind: InstanceTable['kind']; status: string; isAttached: boolean; runsTasks: boolean };
  project: ProjectStatus;
  storage: StorageStatus;
  workspace: { isDisabled: boolean; exhaustedAt: Date | null };
}

export type MayStart =
  | { may: 'now' }
  | { may: 'later'; reason: string }
  /** It is to be canceled. */
  | { may: 'never'; reason: string };

export const SERVER_GONE = text('Its server is gone');
export const STORAGE_DELETED = text('Its storage was deleted');
export const PROJECT_ARCHIVED = text('Its project was archived');
export const PROJECT_DELETED = text('Its project was deleted');
export const WORKSPACE_DISABLED = text('The workspace was disabled by an operator');

/** From these a server never comes back. */
const GONE: readonly string[] = ['creation failed', 'terminating', 'terminated', 'deleted'];
const STORAGE_GONE: readonly StorageStatus[] = ['creation failed', 'terminating', 'deleted'];
const PROJECT_GONE: readonly ProjectStatus[] = ['creation failed', 'deleting', 'deletion failed', 'deleted'];

export const isServerGone = (status: string): boolean => GONE.includes(status);
export const isStorageGone = (status: StorageStatus): boolean => STORAGE_GONE.includes(status);

/** Whether a task that has no place yet may get one. Pure. */
export function mayStart({ server, project, storage, workspace }: Surroundings): MayStart {
  const gone = whatIsGone({ project, storage, workspace });
  if (gone) return { may: 'never', reason: gone };
  if (isServerGone(server.status)) return { may: 'never', reason: SERVER_GONE };
  if (!server.isAttached) return { may: 'never', reason: text('Its server was detached from the project') };
  if (!projectCan.change({ status: project }).allowed) return { may: 'never', reason: PROJECT_ARCHIVED };
  if (workspace.exhaustedAt) return { may: 'later', reason: ZERO_BALANCE };
  if (server.status !== 'online') return { may: 'later', reason: text('Its server is not online') };
  if (!server.runsTasks) return { may: 'later', reason: text('The agent on its server is too old to run tasks') };
  if (storage !== 'rented') return { may: 'later', reason: text('Its storage cannot be used now') };
  return { may: 'now' };
}

/** Why a task ends wherever it is, running or not; null: nothing that it needs is gone. */
export function whatIsGone({ project, storage, workspace }: Omit<Surroundings, 'server'>): string | null {
  if (workspace.isDisabled) return WORKSPACE_DISABLED;
  if (PROJECT_GONE.includes(project)) return PROJECT_DELETED;
  return isStorageGone(storage) ? STORAGE_DELETED : null;
}
