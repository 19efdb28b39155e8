import { CONTAINER_MOVES } from '@stagi/contract/containers.ts';
import { RENTED_MOVES, SELF_HOSTED_MOVES } from '@stagi/contract/instances.ts';
import { INVITE_MOVES } from '@stagi/contract/invites.ts';
import { IMPORT_MOVES, PROJECT_MOVES } from '@stagi/contract/projectRules.ts';
import { STORAGE_MOVES } from '@stagi/contract/storageRules.ts';
import { TASK_MOVES } from '@stagi/contract/taskRules.ts';

/** The allowed transitions of every status, which the database's trigger enforces. */
export const STATUS_MOVES: readonly { kind: string; moves: Record<string, readonly string[]> }[] = [
  { kind: 'rented', moves: RENTED_MOVES },
  { kind: 'self-hosted', moves: SELF_HOSTED_MOVES },
  { kind: 'docker-container', moves: CONTAINER_MOVES },
  { kind: 'invite', moves: INVITE_MOVES },
  { kind: 'storage', moves: STORAGE_MOVES },
  { kind: 'project', moves: PROJECT_MOVES },
  { kind: 'project-import', moves: IMPORT_MOVES },
  { kind: 'task', moves: TASK_MOVES },
];
