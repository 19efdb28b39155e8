import { z } from 'zod';
import { call } from './call.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';

/** An inconsistency in the ledger. */
export const Finding = z.object({
  /** The table of the row (`journal`, `account`, `ledger_seal`, `hold`, `segment`, `segment_charge`, …), or `currency`. */
  about: z.string(),
  id: z.string(),
  problem: z.string(),
});
export type Finding = z.infer<typeof Finding>;

export const RUN_STATES = ['waiting', 'running', 'sound', 'unsound', 'failed'] as const;

export const LedgerRun = z.object({
  id: Id,
  state: z.enum(RUN_STATES),
  cause: z.enum(['cron', 'command', 'operator']),
  askedBy: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
  createdAt: z.string(),
  endedAt: z.string().nullable(),
  /** When it last reported progress. */
  touchedAt: z.string(),
  journals: z.number().int(),
  journalsToDo: z.number().int(),
  /** How many rows of each kind were checked. */
  counts: z.record(z.string(), z.number()),
  /** At most 100. */
  findings: z.array(Finding),
  error: z.string().nullable(),
});
export type LedgerRun = z.infer<typeof LedgerRun>;

export const FINDINGS_MAX = 100;

const OPERATOR = ['EMPLOYEE'] as const;

export const ledger = {
  verify: call({
    path: 'admin/ledger/verify',
    summary: 'Verifies every journal, balance and seal in the background. Returns the run in progress, if any.',
    auth: OPERATOR,
    input: z.object({}),
    output: oneOf(LedgerRun),
  }),
  list: call({
    path: 'admin/ledger/list',
    summary: 'The verifications of the ledger, newest first, and its last seals.',
    auth: OPERATOR,
    input: ListInput,
    output: listOf(LedgerRun).extend({
      /** Null until a run has ended. */
      lastIsSound: z.boolean().nullable(),
      seals: z.array(z.object({ day: z.string(), journals: z.number().int(), hash: z.string(), sealedAt: z.string() })),
    }),
  }),
};
