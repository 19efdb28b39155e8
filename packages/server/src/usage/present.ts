import { CURRENCY } from '@stagi/contract/brand.ts';
import { toDecimal } from '@stagi/contract/money.ts';
import type { Money } from '@stagi/contract/price.ts';
import type { UsageInterval } from '@stagi/contract/usage.ts';
import { presentResource } from '../billing/billedResource.ts';
import type { CsvColumns } from '../http/csv.ts';
import type { IntervalRow } from './intervals.ts';

export const stagi = (micro: bigint): Money => ({ currency: CURRENCY, decimalValue: toDecimal(micro) });

export const secondsOf = (micros: bigint): number => Number(micros) / 1_000_000;

export function presentInterval(row: IntervalRow): UsageInterval {
  return {
    id: Number(row.id),
    resource: presentResource(row),
    rate: row.rate,
    from: row.start.toISOString(),
    to: row.stop?.toISOString() ?? null,
    open: row.open,
    seconds: secondsOf(row.micros),
    pricePerHour: stagi(row.per_hour),
    price: stagi(row.price),
    priceHours: row.price_hours,
    quoted: stagi(row.quoted),
    charged: stagi(row.charged),
    uncollected: stagi(row.uncollected),
    refunded: stagi(row.refunded),
  };
}

/** An interval as a line; amounts are STAGI. */
export const USAGE_COLUMNS: CsvColumns<UsageInterval> = {
  interval: ({ id }) => id,
  kind: ({ resource }) => resource.kind,
  resource_id: ({ resource }) => resource.id,
  unique_id: ({ resource }) => resource.slug,
  title: ({ resource }) => resource.title,
  rate: ({ rate }) => rate,
  from: ({ from }) => from,
  to: ({ to }) => to,
  seconds: ({ seconds }) => seconds,
  price: ({ price }) => price.decimalValue,
  price_hours: ({ priceHours }) => priceHours,
  quoted: ({ quoted }) => quoted.decimalValue,
  charged: ({ charged }) => charged.decimalValue,
  uncollected: ({ uncollected }) => uncollected.decimalValue,
  refunded: ({ refunded }) => refunded.decimalValue,
  currency: ({ charged }) => charged.currency,
};
