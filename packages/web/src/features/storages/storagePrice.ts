import { fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import type { Price } from '@stagi/contract/price.ts';
import { HOURS_PER_MONTH } from '@stagi/contract/storageRules.ts';

export interface SizePrice {
  month: Price;
  day: Price;
  hour: Price;
}

const MONTH = BigInt(HOURS_PER_MONTH);

/** What a size costs; a month counts 730 hours. */
export function priceOfSize(pricePerGbMonth: Price, sizeGb: number): SizePrice {
  const gb = BigInt(sizeGb);
  return {
    month: scaled(pricePerGbMonth, (micro) => micro * gb),
    day: scaled(pricePerGbMonth, (micro) => (micro * gb * 24n) / MONTH),
    hour: scaled(pricePerGbMonth, (micro) => (micro * gb) / MONTH),
  };
}

const scaled = ({ STAGI, USD }: Price, of: (micro: bigint) => bigint): Price => ({
  STAGI: { ...STAGI, decimalValue: toDecimal(of(fromDecimal(STAGI.decimalValue))) },
  USD: { ...USD, decimalValue: toDecimal(of(fromDecimal(USD.decimalValue))) },
});
