import { CURRENCY } from '@stagi/contract/brand.ts';
import { toDecimal } from '@stagi/contract/money.ts';
import type { Price } from '@stagi/contract/price.ts';
import type { Config } from '../config/config.ts';

/** Shows micro-STAGI as a price in STAGI and USD at the configured rate, rounded down to micro-units. */
export function presentPrice(config: Config, micro: bigint): Price {
  return {
    STAGI: { currency: CURRENCY, decimalValue: toDecimal(micro) },
    USD: { currency: 'USD', decimalValue: toDecimal(toUsd(config, micro)) },
  };
}

export function toUsd(config: Config, micro: bigint): bigint {
  return (micro * config.usdRate) / 1_000_000n;
}

/** What a machine costs a workspace: the provider's price and the platform's markup. Own machines carry none. */
export function priceOf(config: Config, provider: string, providerPrice: bigint): bigint {
  if (provider === 'local') return providerPrice;
  return (providerPrice * BigInt(10_000 + config.markupBasisPoints)) / 10_000n;
}
