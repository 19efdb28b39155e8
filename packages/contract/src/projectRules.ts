import { z } from 'zod';
import { text } from './text.ts';
import { no, type Verdict, yes } from './verdict.ts';

/** Rules about projects that server and web app share. */

/** The branch of a new repository. */
export const DEFAULT_BRANCH = 'main';
/** The largest push that is accepted, in bytes. */
export const MAX_PUSH_BYTES = 512 * 1024 * 1024;
/** Days for which the activity of a project is kept. */
export const PROJECT_ACTIVITY_KEPT_DAYS = 400;

export const ProjectStatus = z.enum([
  'creating',
  'creation failed',
  'active',
  'archived',
  'deleting',
  'deletion failed',
  'deleted',
]);
export type ProjectStatus = z.infer<typeof ProjectStatus>;

/** The allowed transitions of each status; the database refuses all others. */
export const PROJECT_MOVES: Record<ProjectStatus, readonly ProjectStatus[]> = {
  creating: ['active', 'creation failed', 'deleting'],
  'creation failed': ['deleting'],
  active: ['archived', 'deleting'],
  archived: ['active', 'deleting'],
  deleting: ['deletion failed', 'deleted'],
  'deletion failed': ['deleting'],
  deleted: [],
};

export const ImportStatus = z.enum(['queued', 'running', 'done', 'failed']);
export type ImportStatus = z.infer<typeof ImportStatus>;

/** An import that a stopped process left is queued again. */
export const IMPORT_MOVES: Record<ImportStatus, readonly ImportStatus[]> = {
  queued: ['running', 'failed'],
  running: ['queued', 'done', 'failed'],
  done: [],
  failed: [],
};

export const isImporting = (of: { import: { status: ImportStatus } | null }): boolean =>
  of.import?.status === 'queued' || of.import?.status === 'running';

type Actionable = { status: ProjectStatus; isEmpty: boolean; import: { status: ImportStatus } | null };

const ARCHIVED = text('This project is archived: it can only be read');
const DELETED = text('This project is being deleted');

/** Which actions a project allows now, and why the others are disabled. Used by the server and the web app. */
export const projectCan = {
  /** Reading its code, in the browser and by git. */
  read({ status }: Actionable): Verdict {
    if (status === 'active' || status === 'archived' || status === 'creating') return yes;
    return no(status === 'creation failed' ? text('This project could not be created') : DELETED);
  },
  push(project: Actionable): Verdict {
    const change = projectCan.change(project);
    if (!change.allowed) return change;
    return isImporting(project) ? no(text('A repository is being imported into this project')) : yes;
  },
  /** Settings, servers, containers and whatever else adds to it. */
  change({ status }: Pick<Actionable, 'status'>): Verdict {
    if (status === 'archived') return no(ARCHIVED);
    if (status === 'creation failed') return no(text('This project could not be created'));
    return status === 'active' || status === 'creating' ? yes : no(DELETED);
  },
  import(project: Actionable): Verdict {
    const push = projectCan.push(project);
    if (!push.allowed) return push;
    return project.isEmpty ? yes : no(text('Only an empty project can import a repository'));
  },
  cancelImport(project: Actionable): Verdict {
    return isImporting(project) ? yes : no(text('Nothing is being imported'));
  },
  archive(project: Actionable): Verdict {
    if (project.status === 'archived') return no(text('This project is already archived'));
    if (project.status !== 'active') return no(text('Only an active project can be archived'));
    return isImporting(project) ? no(text('A repository is being imported into this project')) : yes;
  },
  unarchive({ status }: Pick<Actionable, 'status'>): Verdict {
    return status === 'archived' ? yes : no(text('This project is not archived'));
  },
  delete({ status }: Pick<Actionable, 'status'>): Verdict {
    return status === 'deleting' || status === 'deleted' ? no(DELETED) : yes;
  },
};
