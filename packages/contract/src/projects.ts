import { z } from 'zod';
import { call } from './call.ts';
import { Slug, Title, writtenText } from './fields.ts';
import { EditVersion, Id, ListInput, listOf, oneOf, Ref, refOr, SuccessResponse } from './page.ts';
import { ImportStatus, ProjectStatus } from './projectRules.ts';
import { text } from './text.ts';

export const Description = writtenText.pipe(
  z.string().trim().max(1_000, text('Description is too long: at most 1,000 characters')),
);

/** An https address of a git repository. Credentials are refused, as the address is stored and shown. */
export const ImportUrl = z
  .string(text('Address is required'))
  .trim()
  .min(1, text('Address is required'))
  .max(1_000, text('Address is too long: at most 1,000 characters'))
  .superRefine((value, context) => {
    const refusal = refusedAddress(value);
    if (refusal) context.addIssue({ code: 'custom', message: refusal });
  });

function refusedAddress(value: string): string | null {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url?.protocol !== 'https:' || !url.hostname) return text('Enter an address that begins with https://');
  if (url.username || url.password) return text('The address must not contain a user name or a password');
  return url.search || url.hash ? text('The address must not contain "?" or "#"') : null;
}

const BranchName = z
  .string(text('Branch is required'))
  .trim()
  .min(1, text('Branch is required'))
  .max(250, text('Branch is too long: at most 250 characters'));

export const ProjectImport = z.object({
  url: z.string(),
  status: ImportStatus,
  /** What it does now, such as `receiving`; null before it runs and after it ended. */
  phase: z.string().nullable(),
  /** Of the current phase: 0 … 1, null when unknown. */
  fraction: z.number().nullable(),
  receivedBytes: z.number(),
  /** Why it failed. */
  error: z.string().nullable(),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  /** When an import that has not ended is given up. */
  deadline: z.string().nullable(),
});
export type ProjectImport = z.infer<typeof ProjectImport>;

export const Project = z.object({
  id: Id,
  slug: z.string(),
  title: z.string(),
  description: z.string(),
  status: ProjectStatus,
  statusSince: z.string(),
  /** The deadline of a transition. */
  statusDeadline: z.string().nullable(),
  /** Why it failed, or what its deletion waits for. */
  statusReason: z.string().nullable(),
  createdAt: z.string(),
  /** Null when the account was deleted. */
  createdBy: z.string().nullable(),
  archivedAt: z.string().nullable(),
  defaultBranch: z.string(),
  /** Whether its repository has no branch and no tag. */
  isEmpty: z.boolean(),
  /** Of the default branch; null while that branch does not exist. */
  lastCommit: z.object({ sha: z.string(), message: z.string(), at: z.string() }).nullable(),
  lastPushAt: z.string().nullable(),
  taskCount: z.number().int(),
  /** Open servers that are attached. */
  instanceCount: z.number().int(),
  /** Containers that are not deleted. */
  containerCount: z.number().int(),
  /** Of the repository on disk. */
  sizeBytes: z.number(),
  /** What to clone: `https://…/git/{clientId}/{slug}.git`. */
  gitHttps: z.string(),
  /** `ssh://git@…:4422/{clientId}/{slug}.git`. */
  gitSsh: z.string(),
  /** Whether a forced push to the default branch, and its deletion, are accepted. */
  allowForcedPush: z.boolean(),
  /** Changes with each edit: see `EditVersion`. */
  version: z.string().optional(),
  /** Whether the caller may push now. */
  canPush: z.boolean(),
  /** The last import, if there was one. */
  import: ProjectImport.nullable(),
});
export type Project = z.infer<typeof Project>;

/** A server that is attached to a project. */
export const ProjectInstance = z.object({
  instance: z.object({
    id: Id,
    kind: z.enum(['rented', 'self-hosted']),
    slug: z.string(),
    title: z.string(),
    status: z.string(),
  }),
  attachedAt: z.string(),
  attachedBy: z.string().nullable(),
});
export type ProjectInstance = z.infer<typeof ProjectInstance>;

/** A branch or tag that a push changed. */
export const PushedRef = z.object({
  /** The full name: `refs/heads/main`. */
  name: z.string(),
  /** Null: it is new. */
  before: z.string().nullable(),
  /** Null: it was deleted. */
  after: z.string().nullable(),
  /** Whether commits were taken out of the branch. */
  isForced: z.boolean(),
});
export type PushedRef = z.infer<typeof PushedRef>;

export const PROJECT_ACTIVITIES = [
  'created',
  'push',
  'import started',
  'import done',
  'import failed',
  'instance attached',
  'instance detached',
  'archived',
  'unarchived',
] as const;

export const ProjectActivity = z.object({
  id: Id,
  at: z.string(),
  kind: z.enum(PROJECT_ACTIVITIES),
  /** Null: the platform, or the account was deleted. */
  by: z.string().nullable(),
  /** How a push came. */
  via: z.enum(['https', 'ssh']).nullable(),
  /** Of a push: at most 20. */
  refs: z.array(PushedRef),
  /** How many branches and tags a push changed. */
  refCount: z.number().int(),
  /** The server that was attached or detached, as it is now. */
  instance: z
    .object({
      id: Id,
      kind: z.enum(['rented', 'self-hosted']),
      slug: z.string(),
      title: z.string(),
      isClosed: z.boolean(),
    })
    .nullable(),
  /** What was imported. */
  url: z.string().nullable(),
  /** Why an import failed. */
  error: z.string().nullable(),
});
export type ProjectActivity = z.infer<typeof ProjectActivity>;

const READ = ['PROJECT', 'PROJECT_MANAGEMENT'] as const;
const MANAGE = ['PROJECT_MANAGEMENT'] as const;

const InstanceOfProject = z.object({
  projectRef: refOr(text('Project is required')),
  instanceRef: refOr(text('Server is required')),
});

export const projects = {
  list: call({
    path: 'project/list',
    summary: 'Projects of the workspace, archived ones too. Deleted ones only when asked for by status.',
    auth: READ,
    byToken: true,
    input: ListInput,
    output: listOf(Project),
  }),
  view: call({
    path: 'project/view',
    summary: 'One project.',
    auth: READ,
    byToken: true,
    input: Ref,
    output: oneOf(Project),
  }),
  form: call({
    path: 'project/form',
    summary: 'How much of the plan projects, repositories and storages take, and how large a push may be.',
    auth: READ,
    byToken: true,
    input: z.object({}),
    output: z.object({
      isSuccess: z.literal(true),
      /** By person where the plan is Free; null: unlimited. */
      planGb: z.number().nullable(),
      /** Of storages and repositories together. */
      usedGb: z.number(),
      projects: z.object({ used: z.number(), limit: z.number().nullable() }),
      maxPushBytes: z.number(),
    }),
  }),
  create: call({
    path: 'project/create',
    summary: 'Makes a project with an empty repository, or begins to import one. Answers at once.',
    auth: MANAGE,
    byToken: true,
    input: z.object({
      title: Title,
      slug: Slug,
      description: Description.default(''),
      /** The same as `project/import` right after. */
      importUrl: ImportUrl.optional(),
    }),
    output: oneOf(Project),
  }),
  edit: call({
    path: 'project/edit',
    summary: 'Changes title, description, default branch, or whether forced pushes are accepted.',
    auth: MANAGE,
    byToken: true,
    input: z.object({
      id: Id,
      title: Title.optional(),
      description: Description.optional(),
      /** A branch that exists. */
      defaultBranch: BranchName.optional(),
      allowForcedPush: z.boolean().optional(),
      version: EditVersion.optional(),
    }),
    output: oneOf(Project),
  }),
  archive: call({
    path: 'project/archive',
    summary: 'Makes a project read-only: nothing can be pushed, nothing new starts.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Project),
  }),
  unarchive: call({
    path: 'project/unarchive',
    summary: 'Ends the archiving of a project.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Project),
  }),
  viewDeletion: call({
    path: 'project/deletion/view',
    summary: 'What dies with a project, and why it cannot be deleted, if so.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: z.object({
      isSuccess: z.literal(true),
      sizeBytes: z.number(),
      /** At most 100. */
      containers: z.array(
        z.object({
          id: Id,
          slug: z.string(),
          title: z.string(),
          status: z.string(),
          instance: z.object({ id: Id, slug: z.string(), title: z.string(), status: z.string() }),
          /** Whether the caller may manage it. */
          canManage: z.boolean(),
        }),
      ),
      containerCount: z.number().int(),
      taskCount: z.number().int(),
      /** Null: it can be deleted. */
      refusal: z.string().nullable(),
    }),
  }),
  delete: call({
    path: 'project/delete',
    summary: 'Deletes a project with its repository and containers. Servers and storages stay.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, slugTyped: z.string().trim().max(60) }),
    output: oneOf(Project),
  }),
  import: call({
    path: 'project/import',
    summary: 'Fetches a public repository by https into an empty project, in the background.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, url: ImportUrl }),
    output: oneOf(Project),
  }),
  cancelImport: call({
    path: 'project/import/cancel',
    summary: 'Gives up an import that has not ended.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id }),
    output: oneOf(Project),
  }),
  instances: call({
    path: 'project/instance/list',
    summary: 'Servers that are attached to a project.',
    auth: READ,
    byToken: true,
    input: ListInput.extend({ projectRef: Ref }),
    output: listOf(ProjectInstance),
  }),
  attachInstance: call({
    path: 'project/instance/attach',
    summary: 'Attaches a rented or self-hosted server. Attaching twice changes nothing.',
    auth: MANAGE,
    byToken: true,
    input: InstanceOfProject,
    output: SuccessResponse,
  }),
  detachInstance: call({
    path: 'project/instance/detach',
    summary: 'Detaches a server, if it is attached. What runs on it goes on.',
    auth: MANAGE,
    byToken: true,
    input: InstanceOfProject,
    output: SuccessResponse,
  }),
  activity: call({
    path: 'project/activity/list',
    summary: 'What happened in a project: pushes, imports, servers attached and detached.',
    auth: READ,
    byToken: true,
    input: ListInput.extend({ projectRef: Ref }),
    output: listOf(ProjectActivity),
  }),
};
