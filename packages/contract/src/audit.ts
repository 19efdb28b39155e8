import { z } from 'zod';
import { call } from './call.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';

export const AUDIT_OUTCOMES = ['done', 'refused', 'denied', 'failed'] as const;

export const AuditEntry = z.object({
  /** Its position in the hash chain of its workspace. */
  id: Id,
  at: z.string(),
  actor: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
  by: z.enum(['session', 'token', 'platform']),
  ip: z.string().nullable(),
  userAgent: z.string().nullable(),
  /** The path of the call that was made. */
  action: z.string(),
  object: z.object({ type: z.string(), id: z.string().nullable(), label: z.string().nullable() }).nullable(),
  /** `denied`: no permission; `refused`: with an explanation; `failed`: an internal error. */
  outcome: z.enum(AUDIT_OUTCOMES),
  /** Under `names`, by field, what those of its fields were called that hold an id. */
  detail: z.record(z.string(), z.unknown()),
  /** SHA-256 of the object's row before and after, and of this entry with the one before it. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  hash: z.string(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** `statuses` of the filter are outcomes; an area is the first word of an action: `docker-container`. */
const Filters = {
  /** Inclusive. */
  from: z.iso.datetime().optional(),
  to: z.iso.datetime().optional(),
  areas: z.array(z.string().max(40)).max(40).optional(),
  userIds: z.array(Id).max(100).optional(),
};

const ExportInput = { ...Filters, outcomes: z.array(z.enum(AUDIT_OUTCOMES)).optional(), before: Id.optional() };
const VerifyInput = { after: z.number().int().min(0).optional() };

const Actor = z.object({ userId: Id, name: z.string(), email: z.string() });

/** The people and areas in the log, as options of the filters. */
const FilterOptions = {
  /** All people; where there are more than 50, only those in `userIds`, by name. */
  actors: z.array(Actor),
  isMoreActors: z.literal(true).optional(),
  areas: z.array(z.string()),
};

const VIEW_PERMISSIONS = ['CLIENT_MANAGEMENT'] as const;

const OPERATOR = ['EMPLOYEE'] as const;

/** The workspace of the log; null: the log of the operators. */
const AnyWorkspace = { workspaceId: Id.nullable().default(null) };

/** With more people than this the filter searches for typed text instead of listing everybody. */
export const AUDIT_ACTORS_LISTED = 50;

const Exported = z.object({ isSuccess: z.literal(true), csv: z.string(), next: Id.nullable() });

const Verified = z.object({
  isSuccess: z.literal(true),
  checked: z.number().int(),
  /** The first entry whose hash is wrong; null when all are right. */
  broken: Id.nullable(),
  next: Id.nullable(),
});

export const AUDIT_CHECK_STATUSES = ['in queue', 'running', 'whole', 'broken', 'failed'] as const;

/** A verification of the hash chains of all logs. */
export const AuditCheck = z.object({
  id: Id,
  /** `failed`: it made no progress by its deadline. */
  status: z.enum(AUDIT_CHECK_STATUSES),
  cause: z.enum(['cron', 'operator']),
  askedBy: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
  createdAt: z.string(),
  /** When it counts as failed; moved with each part that is done. */
  deadline: z.string(),
  endedAt: z.string().nullable(),
  /** One per workspace, and one of the operators. */
  logs: z.number().int(),
  logsToDo: z.number().int(),
  entries: z.number().int(),
  entriesToDo: z.number().int(),
  brokenLogs: z.number().int(),
  /** The first wrong entry of each broken log, at most 100; the operators' log has no workspace. */
  findings: z.array(z.object({ workspace: z.object({ id: Id, name: z.string() }).nullable(), entry: Id })),
});
export type AuditCheck = z.infer<typeof AuditCheck>;

export const AUDIT_FINDINGS_MAX = 100;

/** Lists count at most this many matching entries; exports contain all of them. */
export const AUDIT_COUNT_MAX = 10_000;

export const audit = {
  list: call({
    path: 'client/audit/list',
    summary: 'What was done in the workspace, by whom, from where, newest first; at most 10,000 are counted.',
    auth: VIEW_PERMISSIONS,
    input: ListInput.extend(Filters),
    output: listOf(AuditEntry).extend(FilterOptions),
  }),
  listActors: call({
    path: 'client/audit/actor/list',
    summary: 'Searches the people in the log by name; without a text, those who acted last. At most 100.',
    auth: VIEW_PERMISSIONS,
    input: ListInput,
    output: listOf(Actor),
  }),
  export: call({
    path: 'client/audit/export',
    summary: 'The same as lines of CSV, newest first, in parts: go on with `before` until `next` is null.',
    auth: VIEW_PERMISSIONS,
    input: z.object(ExportInput),
    output: Exported,
  }),
  verify: call({
    path: 'client/audit/verify',
    summary: 'Verifies the hash chain of the log from the oldest entry on, in parts.',
    auth: VIEW_PERMISSIONS,
    input: z.object(VerifyInput),
    output: Verified,
  }),
  listForOperators: call({
    path: 'admin/audit/list',
    summary: 'What operators did, or with `workspaceId` what was done in that workspace, newest first.',
    auth: OPERATOR,
    input: ListInput.extend({ ...Filters, ...AnyWorkspace }),
    output: listOf(AuditEntry).extend({
      ...FilterOptions,
      workspace: z.object({ id: Id, name: z.string() }).nullable(),
    }),
  }),
  listActorsForOperators: call({
    path: 'admin/audit/actor/list',
    summary: 'Searches the people in a log by name; without a text, those who acted last. At most 100.',
    auth: OPERATOR,
    input: ListInput.extend(AnyWorkspace),
    output: listOf(Actor),
  }),
  exportForOperators: call({
    path: 'admin/audit/export',
    summary: 'The same as lines of CSV, newest first, in parts: go on with `before` until `next` is null.',
    auth: OPERATOR,
    input: z.object({ ...ExportInput, ...AnyWorkspace }),
    output: Exported,
  }),
  verifyForOperators: call({
    path: 'admin/audit/verify',
    summary: 'Verifies the hash chain of one log from the oldest entry on, in parts.',
    auth: OPERATOR,
    input: z.object({ ...VerifyInput, ...AnyWorkspace }),
    output: Verified,
  }),
  checkAll: call({
    path: 'admin/audit/check-all',
    summary: 'Verifies the hash chains of all logs in the background. Returns the check in progress, if any.',
    auth: OPERATOR,
    input: z.object({}),
    output: oneOf(AuditCheck),
  }),
  listChecks: call({
    path: 'admin/audit/check/list',
    summary: 'The checks of all logs, newest first.',
    auth: OPERATOR,
    input: ListInput,
    output: listOf(AuditCheck).extend({
      /** Null until a check has come to an end. */
      lastIsWhole: z.boolean().nullable(),
    }),
  }),
};

const READS = new Set([
  'list',
  'transaction-list',
  'view',
  'query',
  'balance',
  'check',
  'facets',
  'history',
  'metrics',
  'methods',
  'read',
  'export',
  'verify',
  'stream-ticket',
  'profile',
  'download',
  'zip-link',
  'download-link',
  // A presigned URL changes nothing yet; parts of one upload would flood the log.
  'upload-link',
  'multipart-part-links',
  'multipart-list',
  'form',
  'usage',
  'preview-link',
  'tree',
  'blob',
  'commit',
  'commits',
  'refs',
  'search',
  'blame',
  'options',
  'deletion',
  'fit',
  // What people ask models is nobody's business.
  'run',
]);

/** Calls that are named like a read but start work. */
const WRITES_WITH_A_READ_NAME = new Set(['admin/ledger/verify']);

/** Whether a call only reads. Every other call of a member is recorded in the audit log of their workspace. */
export const isReadOnly = (path: string): boolean =>
  READS.has(path.slice(path.lastIndexOf('/') + 1)) && !WRITES_WITH_A_READ_NAME.has(path);
