import { z } from 'zod';
import { call } from './call.ts';
import { Slug, Title } from './fields.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';

/** A machine of ours at a cloud that no open server owns. */
export const Stray = z.object({
  id: Id,
  provider: z.string(),
  providerTitle: z.string(),
  /** How its cloud calls it. */
  ref: z.string(),
  name: z.string(),
  tags: z.record(z.string(), z.string()),
  state: z.string(),
  ip: z.string().nullable(),
  /** `closed`: its server is closed; `unknown`: there never was one; `second`: its server has another machine. */
  reason: z.enum(['closed', 'unknown', 'second']),
  /** The server that its tag names. */
  instanceId: Id.nullable(),
  firstSeenAt: z.string(),
  lastSeenAt: z.string(),
  /** When it is deleted unless somebody decides; null: it waits for the operator. */
  deletedFrom: z.string().nullable(),
  decision: z.enum(['adopt', 'delete']).nullable(),
  /** How often its cloud was told to delete it, and what it answered last when it refused. */
  deletions: z.number().int(),
  lastError: z.string().nullable(),
});
export type Stray = z.infer<typeof Stray>;

const OPERATOR = ['EMPLOYEE'] as const;

export const strays = {
  list: call({
    path: 'admin/stray/list',
    summary: 'Machines of all clouds that no open server owns, newest first.',
    auth: OPERATOR,
    input: ListInput,
    output: listOf(Stray),
  }),
  adopt: call({
    path: 'admin/stray/adopt',
    summary: 'Makes a stray machine a rented instance of a workspace, at the price of an offer of its cloud.',
    auth: OPERATOR,
    input: z.object({
      id: Id,
      workspaceId: Id,
      offerId: z.string('Offer is required').min(1, 'Offer is required').max(200),
      title: Title,
      slug: Slug,
    }),
    output: oneOf(Stray).extend({ instanceId: Id }),
  }),
  delete: call({
    path: 'admin/stray/delete',
    summary:
      'Has a stray machine deleted at its cloud by the next sweep, without waiting for the end of its quarantine.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: oneOf(Stray),
  }),
};
