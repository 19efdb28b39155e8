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

/**
 * What a balance does once one more thing of this price runs. What its provider cannot stop needs half an hour more, to
 * leave in order.
 */
export function forecast(balance: Balance, price: Price, canStop = true): Forecast {
  const more = fromDecimal(price.STAGI.decimalValue);
  const reserve = fromDecimal(balance.reserve) + (canStop ? 0n : more / 2n);
  const all = fromDecimal(balance.clientBalance.STAGI.decimalValue);
  const has = all > reserve ? all - reserve : 0n;
  const burn = fromDecimal(balance.burnPerHour) + more;
  return {
    burnPerHour: toDecimal(burn),
    hours: burn === 0n ? null : Number(has) / Number(burn),
    coversAnHour: all >= burn + reserve,
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
