import type { TransactionType } from '@stagi/contract/transactions.ts';

/** What an account is for; the same for every workspace. The database derives it from an account's code. */
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
  /** How a workspace sees what happened to what it can spend. */
  shownAs: TransactionType;
  from: readonly AccountClass[];
  to: readonly AccountClass[];
  /** Whether a whole journal of it may be undone by `reverse`; what cannot has a kind of its own that undoes it. */
  reversible: boolean;
}

const SPENDABLE = ['credit', 'card', 'onchain'] as const;

/**
 * Every kind of journal there is, and the accounts that money may leave and reach in it. The database refuses any other
 * flow, whoever asks.
 */
const KINDS = {
  starter: { shownAs: 'Deposit', from: ['promo'], to: ['credit'], reversible: true },
  promo: { shownAs: 'Deposit', from: ['promo'], to: ['credit'], reversible: true },
  'test-deposit': { shownAs: 'Deposit', from: ['promo'], to: ['credit'], reversible: true },
  deposit: { shownAs: 'Deposit', from: ['world:deposit'], to: ['card', 'onchain'], reversible: true },
  /** What a card's issuer takes back; what is spent already is a debt. */
  chargeback: { shownAs: 'Deposit', from: ['card', 'writeoff'], to: ['world:deposit'], reversible: true },
  exchange: {
    shownAs: 'Exchange',
    from: ['card', 'onchain', 'fx'],
    to: ['card', 'onchain', 'fx'],
    reversible: true,
  },
  usage: { shownAs: 'Spending', from: [...SPENDABLE, 'writeoff'], to: ['revenue:usage'], reversible: false },
  /** Of one segment, each part back to the account that it came from. */
  refund: { shownAs: 'Spending', from: ['revenue:usage'], to: [...SPENDABLE, 'writeoff'], reversible: false },
  /** What was used and nobody pays for. */
  writeoff: { shownAs: 'Spending', from: ['writeoff'], to: ['revenue:usage'], reversible: true },
  plan: { shownAs: 'Spending', from: SPENDABLE, to: ['revenue:plan'], reversible: true },
  hold: { shownAs: 'Withdrawal', from: ['onchain'], to: ['held'], reversible: false },
  release: { shownAs: 'Withdrawal', from: ['held'], to: ['onchain'], reversible: false },
  capture: { shownAs: 'Withdrawal', from: ['held'], to: ['world:payout'], reversible: false },
} as const satisfies Record<string, Kind>;

/** `reversal` is shown as what it undoes and flows the other way. */
export type JournalKind = keyof typeof KINDS;
export const JOURNAL_KINDS: Readonly<Record<JournalKind, Kind>> = KINDS;
