import { z } from 'zod';
import { CreditReason, DisabledState, DisableReason } from './adminReason.ts';
import { call } from './call.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';
import { ROLES } from './permissions.ts';
import { Price } from './price.ts';
import { text } from './text.ts';
import { Plan } from './user.ts';

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
