import type { Balance } from '@stagi/contract/billing.ts';
import { fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import type { Price } from '@stagi/contract/price.ts';

export interface Forecast {
  /** STAGI an hour. */
  burnPerHour: string;
  /** Hours until the balance is spent; null when nothing is. */
  hours: number | null;
  /** STAGI that renting asks for: an hour of everything that runs, and the reserve of what cannot be stopped. */
  needed: string;
  /** Whether the balance holds what is needed. */
  isCovered: boolean;
}

/**
 * What a balance does as things are, or once one more server runs. What its provider cannot stop needs half an hour more, to
 * leave in order.
 */
export function forecast(balance: Balance, added?: { price: Price; canStop: boolean }): Forecast {
  const more = added ? fromDecimal(added.price.STAGI.decimalValue) : 0n;
  const reserve = fromDecimal(balance.reserve) + (added && !added.canStop ? fromDecimal(reserveFor(added.price)) : 0n);
  const all = fromDecimal(balance.clientBalance.STAGI.decimalValue);
  const has = all > reserve ? all - reserve : 0n;
  const burn = fromDecimal(balance.burnPerHour) + more;
  return {
    burnPerHour: toDecimal(burn),
    hours: burn === 0n ? null : Number(has) / Number(burn),
    needed: toDecimal(burn + reserve),
    isCovered: all >= burn + reserve,
  };
}

/** STAGI that are set aside for what cannot be stopped at this price of an hour. */
export const reserveFor = (price: Price): string => toDecimal(fromDecimal(price.STAGI.decimalValue) / 2n);

/** A price of an hour, for a day. */
export function pricePerDay(price: Price): Price {
  const times24 = (decimal: string) => toDecimal(fromDecimal(decimal) * 24n);
  return {
    STAGI: { ...price.STAGI, decimalValue: times24(price.STAGI.decimalValue) },
    USD: { ...price.USD, decimalValue: times24(price.USD.decimalValue) },
  };
}
