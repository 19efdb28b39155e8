import { z } from 'zod';
import { CreditReason, DisabledState, DisableReason } from './adminReason.ts';
import { call } from './call.ts';
import { EditVersion, Id, ListInput, listOf, oneOf } from './page.ts';
import { ROLES } from './permissions.ts';
import { type PlanLimits, type PlanQuotas, QUOTA_MAX } from './planLimits.ts';
import { Price } from './price.ts';
import { text } from './text.ts';
import { Plan } from './user.ts';

const quotaFrom = (least: number, rule: string) =>
  z.number(rule).int(rule).min(least, rule).max(QUOTA_MAX, rule).nullable().optional();
const Quota = quotaFrom(0, text('Enter a whole number from 0 to 1,000,000'));

/** Limits that an operator has set in place of the plan's; null: no limit. */
export const Quotas = z.object({
  members: quotaFrom(1, text('Enter a whole number from 1 to 1,000,000')),
  gpuServers: Quota,
  cpuOnlyServers: Quota,
  ownServers: Quota,
  projects: Quota,
  storageGb: Quota,
  runsPerDay: Quota,
} satisfies Record<keyof PlanLimits, z.ZodType>) satisfies z.ZodType<PlanQuotas>;

/** The use that counts against each limit, without other workspaces of its owners. */
export const PlanUse = z.object({
  members: z.number().int(),
  gpuServers: z.number().int(),
  cpuOnlyServers: z.number().int(),
  ownServers: z.number().int(),
  projects: z.number().int(),
  storageGb: z.number(),
  runsPerDay: z.number().int(),
} satisfies Record<keyof PlanLimits, z.ZodType>);
export type PlanUse = z.infer<typeof PlanUse>;

const CREDIT_MAX = 1_000_000;

const CreditAmount = z
  .string(text('Amount is required'))
  .trim()
  .min(1, text('Amount is required'))
  .regex(/^-?\d{1,20}(\.\d{1,20})?$/, text('Amount must be a number'))
  .regex(/^[^.]*(\.\d{1,6})?$/, text('Amount may have at most 6 decimals'))
  .refine((amount) => !(Number(amount) <= 0), text('Amount must be greater than 0'))
  .refine((amount) => !(Number(amount) > CREDIT_MAX), text('Amount must be at most 1,000,000'));

export const CLIENT_STATES = ['active', 'disabled', 'closed'] as const;

export const AdminClient = z.object({
  id: Id,
  name: z.string(),
  state: z.enum(CLIENT_STATES),
  subscriptionPlan: Plan,
  quotas: Quotas,
  /** Changes with each edit of the plan and its quotas: see `EditVersion`. */
  version: z.string(),
  /** The owner of longest standing; null when the workspace has no members. */
  owner: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
  members: z.number().int(),
  /** Servers that are running or starting. */
  running: z.number().int(),
  balance: Price,
  createdAt: z.string(),
  disabled: DisabledState,
});
export type AdminClient = z.infer<typeof AdminClient>;

export const AdminClientView = AdminClient.extend({
  isPersonal: z.boolean(),
  spentPerHour: Price,
  use: PlanUse,
  /** The first hundred of each: owners first, running servers first. */
  people: z.array(
    z.object({ userId: Id, name: z.string(), email: z.string(), roleName: z.enum(ROLES), isDisabled: z.boolean() }),
  ),
  machines: z.array(
    z.object({
      id: Id,
      kind: z.enum(['rented', 'self-hosted']),
      title: z.string(),
      slug: z.string(),
      status: z.string(),
      provider: z.string().nullable(),
      canStop: z.boolean(),
      pricePerHour: Price.nullable(),
      createdAt: z.string(),
    }),
  ),
  machineCount: z.number().int(),
});
export type AdminClientView = z.infer<typeof AdminClientView>;

const OPERATOR = ['EMPLOYEE'] as const;

export const adminClients = {
  list: call({
    path: 'admin/client/list',
    summary:
      'Every workspace, found by its name, its id or, with an @, by the beginning of an owner’s address. At most 10,000 are counted, or 1,000 where many hold a text; isMore tells.',
    auth: OPERATOR,
    input: ListInput.extend({ plans: z.array(Plan).max(Plan.options.length).optional() }),
    output: listOf(AdminClient),
  }),
  view: call({
    path: 'admin/client/view',
    summary: 'One workspace with its members, its balance and its machines.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: oneOf(AdminClientView),
  }),
  disable: call({
    path: 'admin/client/disable',
    summary:
      'Disables a workspace at once: its members cannot act in it, nothing starts, and servers that can be stopped are; one that was never ready is terminated. Its members get the reason by mail.',
    auth: OPERATOR,
    stepUp: true,
    input: z.object({
      id: Id,
      reason: DisableReason,
      /** Also terminates servers that cannot be stopped; their data is lost. */ terminate: z.boolean().default(false),
    }),
    output: oneOf(AdminClient),
  }),
  enable: call({
    path: 'admin/client/enable',
    summary: 'Enables a workspace again. Stopped servers stay stopped until its members start them.',
    auth: OPERATOR,
    stepUp: true,
    input: z.object({ id: Id }),
    output: oneOf(AdminClient),
  }),
  editPlan: call({
    path: 'admin/client/edit-plan',
    summary:
      'Sets the plan of a workspace and the quotas that differ from it: a number, or null for no limit; one that is left out is the plan’s. Costs nothing. Nothing that is there stops; where less is allowed than is there, nothing new starts. Its owners are told by mail.',
    auth: OPERATOR,
    stepUp: true,
    input: z.object({ id: Id, plan: Plan, quotas: Quotas, version: EditVersion.optional() }),
    output: oneOf(AdminClient),
  }),
  addCredit: call({
    path: 'admin/client/add-credit',
    summary:
      'Adds credit in STAGI to the balance of a workspace. It can be spent, not withdrawn. Its transactions show the reason, and its owners get it by mail.',
    auth: OPERATOR,
    stepUp: true,
    input: z.object({ id: Id, amount: CreditAmount, reason: CreditReason }),
    output: oneOf(AdminClient),
  }),
};
