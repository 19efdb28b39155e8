import { isImporting } from '@stagi/contract/projectRules.ts';
import type { Project } from '@stagi/contract/projects.ts';

/** The key of a project's status in `STATUS`, where `active` is a word for accounts. */
export function projectStatus(project: Pick<Project, 'status' | 'import'>): string {
  if (project.status !== 'active') return project.status;
  return isImporting(project) ? 'importing' : 'ready';
}
