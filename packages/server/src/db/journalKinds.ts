import type { TransactionType } from '@stagi/contract/transactions.ts';

/** The class of an account, which the database derives from its code. */
export type AccountClass =
  | 'credit'
  | 'card'
  | 'onchain'
  | 'held'
  | 'world:deposit'
  | 'world:payout'
  | 'promo'
  | 'writeoff'
  | 'revenue:usage'
  | 'revenue:plan'
  | 'fx';

interface Kind {
  /** The type of transaction that a workspace sees. */
  shownAs: TransactionType;
  from: readonly AccountClass[];
  to: readonly AccountClass[];
  /** Whether `reverse` may undo a whole journal; others are undone by another kind. */
  reversible: boolean;
}

const SPENDABLE = ['credit', 'card', 'onchain'] as const;

/**
 * Every kind of journal, with the accounts that money may leave and reach in it. The database refuses any other flow.
 */
const KINDS = {
  starter: { shownAs: 'Deposit', from: ['promo'], to: ['credit'], reversible: true },
  promo: { shownAs: 'Deposit', from: ['promo'], to: ['credit'], reversible: true },
  /** By an operator, who gives a reason. */
  grant: { shownAs: 'Deposit', from: ['promo'], to: ['credit'], reversible: true },
  'test-deposit': { shownAs: 'Deposit', from: ['promo'], to: ['credit'], reversible: true },
  deposit: { shownAs: 'Deposit', from: ['world:deposit'], to: ['card', 'onchain'], reversible: true },
  /** Taken back by the issuer of a card; an amount that was spent already is a debt. */
  chargeback: { shownAs: 'Deposit', from: ['card', 'writeoff'], to: ['world:deposit'], reversible: true },
  exchange: {
    shownAs: 'Exchange',
    from: ['card', 'onchain', 'fx'],
    to: ['card', 'onchain', 'fx'],
    reversible: true,
  },
  usage: { shownAs: 'Spending', from: [...SPENDABLE, 'writeoff'], to: ['revenue:usage'], reversible: false },
  /** Of one segment, each part to the account that it came from. */
  refund: { shownAs: 'Spending', from: ['revenue:usage'], to: [...SPENDABLE, 'writeoff'], reversible: false },
  /** Usage that is not covered by the balance. */
  writeoff: { shownAs: 'Spending', from: ['writeoff'], to: ['revenue:usage'], reversible: true },
  plan: { shownAs: 'Spending', from: SPENDABLE, to: ['revenue:plan'], reversible: true },
  hold: { shownAs: 'Withdrawal', from: ['onchain'], to: ['held'], reversible: false },
  release: { shownAs: 'Withdrawal', from: ['held'], to: ['onchain'], reversible: false },
  capture: { shownAs: 'Withdrawal', from: ['held'], to: ['world:payout'], reversible: false },
} as const satisfies Record<string, Kind>;

/** `reversal` is shown like the journal that it undoes, and flows the other way. */
export type JournalKind = keyof typeof KINDS;
export const JOURNAL_KINDS: Readonly<Record<JournalKind, Kind>> = KINDS;
