import type { Balance } from '@stagi/contract/billing.ts';
import { fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import type { Price } from '@stagi/contract/price.ts';

export interface Forecast {
  /** STAGI an hour with the new server. */
  burnPerHour: string;
  /** Hours until the balance is spent; null when nothing is. */
  hours: number | null;
  /** Renting asks for one hour of everything that runs and of the new one. */
  coversAnHour: boolean;
}

/** What a balance does once one more thing of this price runs. */
export function forecast(balance: Balance, price: Price): Forecast {
  const has = fromDecimal(balance.clientBalance.STAGI.decimalValue);
  const burn = fromDecimal(balance.burnPerHour) + fromDecimal(price.STAGI.decimalValue);
  return {
    burnPerHour: toDecimal(burn),
    hours: burn === 0n ? null : Number(has) / Number(burn),
    coversAnHour: has >= burn,
  };
}

/** A price of an hour, for a day. */
export function aDay(price: Price): Price {
  const times24 = (decimal: string) => toDecimal(fromDecimal(decimal) * 24n);
  return {
    STAGI: { ...price.STAGI, decimalValue: times24(price.STAGI.decimalValue) },
    USD: { ...price.USD, decimalValue: times24(price.USD.decimalValue) },
  };
}
