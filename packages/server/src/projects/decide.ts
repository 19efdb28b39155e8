import type { ProjectRow } from '../db/schema.ts';

/** The one next step for a project. */
export type ProjectStep =
  /** Make the repository. */
  | 'make'
  /** The deadline of the creation has passed. */
  | 'give up'
  /** Read again what the repository holds: a push may not have been recorded. */
  | 'refresh'
  /** Wait until nothing of it runs, and remove the repository. */
  | 'remove'
  | 'nothing';

export function decide(row: Pick<ProjectRow, 'status' | 'status_deadline'>, now: Date): ProjectStep {
  switch (row.status) {
    case 'creating':
      return row.status_deadline && row.status_deadline < now ? 'give up' : 'make';
    case 'active':
    case 'archived':
      return 'refresh';
    case 'deleting':
      return 'remove';
    case 'creation failed':
    case 'deletion failed':
    case 'deleted':
      return 'nothing';
  }
}
