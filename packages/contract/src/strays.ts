import { z } from 'zod';
import { call } from './call.ts';
import { Slug, Title } from './fields.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';
import { text } from './text.ts';

/** A machine of this platform at a cloud that belongs to no open server. */
export const Stray = z.object({
  id: Id,
  provider: z.string(),
  providerTitle: z.string(),
  /** Its id at the cloud. */
  ref: z.string(),
  name: z.string(),
  tags: z.record(z.string(), z.string()),
  state: z.string(),
  ip: z.string().nullable(),
  /** `closed`: its server is closed; `unknown`: it never had one; `second`: its server has another machine. */
  reason: z.enum(['closed', 'unknown', 'second']),
  /** The server named by its tag. */
  instanceId: Id.nullable(),
  firstSeenAt: z.string(),
  lastSeenAt: z.string(),
  /** When it is deleted automatically; null: an operator must decide. */
  deletedFrom: z.string().nullable(),
  decision: z.enum(['adopt', 'delete']).nullable(),
  /** How many times its deletion was attempted, and the cloud's last error. */
  deletions: z.number().int(),
  lastError: z.string().nullable(),
});
export type Stray = z.infer<typeof Stray>;

const OPERATOR = ['EMPLOYEE'] as const;

export const strays = {
  list: call({
    path: 'admin/stray/list',
    summary: 'Machines of all clouds that belong to no open server, newest first.',
    auth: OPERATOR,
    input: ListInput,
    output: listOf(Stray),
  }),
  adopt: call({
    path: 'admin/stray/adopt',
    summary: 'Turns a stray machine into a rented instance of a workspace, at the price of an offer of its cloud.',
    auth: OPERATOR,
    input: z.object({
      id: Id,
      workspaceId: z.number(text('Please choose an option')).int().positive(),
      offerId: z.string(text('Offer is required')).min(1, text('Offer is required')).max(200),
      title: Title,
      slug: Slug,
    }),
    output: oneOf(Stray).extend({ instanceId: Id }),
  }),
  delete: call({
    path: 'admin/stray/delete',
    summary: 'Has the next sweep delete a stray machine, without waiting for the end of its quarantine.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: oneOf(Stray),
  }),
};
