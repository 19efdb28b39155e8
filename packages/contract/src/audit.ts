import { z } from 'zod';
import { call } from './call.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';

export const AUDIT_OUTCOMES = ['done', 'refused', 'denied', 'failed'] as const;

export const AuditEntry = z.object({
  /** Its place in the chain of its workspace. */
  id: Id,
  at: z.string(),
  actor: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
  by: z.enum(['session', 'token', 'platform']),
  ip: z.string().nullable(),
  userAgent: z.string().nullable(),
  /** The path of the call that was made. */
  action: z.string(),
  object: z.object({ type: z.string(), id: z.string().nullable(), label: z.string().nullable() }).nullable(),
  /** `denied`: without the permission; `refused`: with an explanation; `failed`: by a mistake of ours. */
  outcome: z.enum(AUDIT_OUTCOMES),
  detail: z.record(z.string(), z.unknown()),
  /** SHA-256 of the object's row before and after, and of this entry with the one before it. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  hash: z.string(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** `statuses` of the filter are outcomes; an area is the first word of an action: `docker-container`. */
const Narrowed = {
  /** Both are included. */
  from: z.iso.datetime().optional(),
  to: z.iso.datetime().optional(),
  areas: z.array(z.string().max(40)).max(40).optional(),
  userIds: z.array(Id).max(100).optional(),
};

const Part = { ...Narrowed, outcomes: z.array(z.enum(AUDIT_OUTCOMES)).optional(), before: Id.optional() };
const Behind = { after: z.number().int().min(0).optional() };

const Actor = z.object({ userId: Id, name: z.string(), email: z.string() });

/** People and areas that the log speaks of. */
const ToNarrowBy = {
  /** Everybody; where there are more than 50, only those of `userIds`, by name. */
  actors: z.array(Actor),
  isMoreActors: z.literal(true).optional(),
  areas: z.array(z.string()),
};

const LOOKS_AT = ['CLIENT_MANAGEMENT'] as const;

const OPERATOR = ['EMPLOYEE'] as const;

/** Whose log: null is that of the operators themselves. */
const OfAny = { workspaceId: Id.nullable().default(null) };

/** Of more people than these whoever is sought is found by what is typed. */
export const AUDIT_ACTORS_LISTED = 50;

const Exported = z.object({ isSuccess: z.literal(true), csv: z.string(), next: Id.nullable() });

const Verified = z.object({
  isSuccess: z.literal(true),
  checked: z.number().int(),
  /** The first entry that does not fit; null where all do. */
  broken: Id.nullable(),
  next: Id.nullable(),
});

export const AUDIT_CHECK_STATUSES = ['in queue', 'running', 'whole', 'broken', 'failed'] as const;

/** All logs held against their hashes. */
export const AuditCheck = z.object({
  id: Id,
  /** `failed`: nobody went on with it by its deadline. */
  status: z.enum(AUDIT_CHECK_STATUSES),
  cause: z.enum(['cron', 'operator']),
  askedBy: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
  createdAt: z.string(),
  /** By when it has gone on; it moves with each part that is done. */
  deadline: z.string(),
  endedAt: z.string().nullable(),
  /** Each workspace has one, and the operators have one. */
  logs: z.number().int(),
  logsToDo: z.number().int(),
  entries: z.number().int(),
  entriesToDo: z.number().int(),
  brokenLogs: z.number().int(),
  /** The first entry that does not fit of each log that is broken, of at most 100; without a workspace: the operators' own. */
  findings: z.array(z.object({ workspace: z.object({ id: Id, name: z.string() }).nullable(), entry: Id })),
});
export type AuditCheck = z.infer<typeof AuditCheck>;

export const AUDIT_FINDINGS_MOST = 100;

/** More entries than this match: lists count no further, exports hold them all. */
export const AUDIT_COUNT_MAX = 10_000;

export const audit = {
  list: call({
    path: 'client/audit/list',
    summary: 'What was done in the workspace, by whom, from where, newest first; at most 10,000 are counted.',
    auth: LOOKS_AT,
    input: ListInput.extend(Narrowed),
    output: listOf(AuditEntry).extend(ToNarrowBy),
  }),
  listActors: call({
    path: 'client/audit/actor/list',
    summary: 'Who of those in the log is called so; without a text, who acted last. At most 100 are found.',
    auth: LOOKS_AT,
    input: ListInput,
    output: listOf(Actor),
  }),
  export: call({
    path: 'client/audit/export',
    summary: 'The same as lines of CSV, newest first, in parts: go on with `before` until `next` is null.',
    auth: LOOKS_AT,
    input: z.object(Part),
    output: Exported,
  }),
  verify: call({
    path: 'client/audit/verify',
    summary: 'Holds each entry against its hash and the one before it, from the oldest on, in parts.',
    auth: LOOKS_AT,
    input: z.object(Behind),
    output: Verified,
  }),
  listForOperators: call({
    path: 'admin/audit/list',
    summary: 'What operators did, or with `workspaceId` what was done in that workspace, newest first.',
    auth: OPERATOR,
    input: ListInput.extend({ ...Narrowed, ...OfAny }),
    output: listOf(AuditEntry).extend({
      ...ToNarrowBy,
      workspace: z.object({ id: Id, name: z.string() }).nullable(),
    }),
  }),
  listActorsForOperators: call({
    path: 'admin/audit/actor/list',
    summary: 'Who of those in a log is called so; without a text, who acted last. At most 100 are found.',
    auth: OPERATOR,
    input: ListInput.extend(OfAny),
    output: listOf(Actor),
  }),
  exportForOperators: call({
    path: 'admin/audit/export',
    summary: 'The same as lines of CSV, newest first, in parts: go on with `before` until `next` is null.',
    auth: OPERATOR,
    input: z.object({ ...Part, ...OfAny }),
    output: Exported,
  }),
  verifyForOperators: call({
    path: 'admin/audit/verify',
    summary: 'Holds each entry of one log against its hash and the one before it, from the oldest on, in parts.',
    auth: OPERATOR,
    input: z.object({ ...Behind, ...OfAny }),
    output: Verified,
  }),
  checkAll: call({
    path: 'admin/audit/check-all',
    summary: 'Has all logs held against their hashes in the background. A check that is under way is answered.',
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
  'download-link',
  'options',
  'fit',
]);

/** Called as if they looked, they begin work that others see. */
const ACTS_ALL_THE_SAME = new Set(['admin/ledger/verify']);

/** Whether a call only looks. Every other call of a member is written into the audit log of their workspace. */
export const onlyReads = (path: string): boolean =>
  READS.has(path.slice(path.lastIndexOf('/') + 1)) && !ACTS_ALL_THE_SAME.has(path);
