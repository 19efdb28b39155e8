import { text } from '@stagi/contract/text.ts';
import type { TransactionType } from '@stagi/contract/transactions.ts';

export const TYPE_WORD: Record<TransactionType, string> = {
  Deposit: text('Deposit'),
  Spending: text('Spending'),
  Exchange: text('Exchange'),
  Withdrawal: text('Withdrawal'),
};

/** What a booking was, by its kind. Usage is named after its server or storage. */
export const KIND_WORD: Record<string, string> = {
  starter: text('Starter credit'),
  promo: text('Promo code'),
  grant: text('Credit'),
  'test-deposit': text('Test money'),
  deposit: text('Payment'),
  chargeback: text('Chargeback'),
  exchange: text('Currency exchange'),
  usage: text('Usage'),
  refund: text('Refund'),
  writeoff: text('Written off'),
  plan: text('Plan'),
  hold: text('Withdrawal hold'),
  release: text('Withdrawal released'),
  capture: text('Payout'),
  reversal: text('Correction'),
};
