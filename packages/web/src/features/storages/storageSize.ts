import type { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import type { T } from '../../i18n/i18n.ts';

export type StorageForm = OutputOf<typeof api.storages.form>;

/** A storage is never larger. */
export const MAX_GB = 10_000;

/** What the size of a storage may be. */
export interface SizeBounds {
  offer: StorageForm;
  /** GB that the storage to be resized takes of the plan already. */
  takenGb: number;
  /** GB that it holds, at least 1: it is never smaller. */
  storedGb: number;
}

/** GB that the plan leaves for one storage; null: as many as one wants. */
export const restOfPlan = ({ offer: { planGb, usedGb }, takenGb }: SizeBounds): number | null =>
  planGb === null ? null : planGb - usedGb + takenGb;

export const largestSize = (bounds: SizeBounds): number => Math.min(MAX_GB, restOfPlan(bounds) ?? MAX_GB);

/** What is typed as a number of GB; 0 while it is none. */
export function wholeGb(typed: number | string): number {
  const gb = typed === '' ? 0 : Number(typed);
  return Number.isSafeInteger(gb) && gb > 0 ? gb : 0;
}

/** What the server would refuse about a size that the rules of the call allow, in its words; null: nothing. */
export function sizeProblem(t: T, typed: number | string, bounds: SizeBounds): string | null {
  const gb = wholeGb(typed);
  const rest = restOfPlan(bounds);
  const { planGb, usedGb } = bounds.offer;
  if (gb < 1 || gb > MAX_GB) return null;
  if (gb < bounds.storedGb)
    return t('The size cannot be less than what is stored: {{used}} GB', { used: bounds.storedGb });
  // A storage may stay as large as it is when the plan has become smaller.
  if (rest !== null && gb > rest && gb > bounds.takenGb)
    return t('Your plan allows {{limit}} GB of storage in total; {{used}} GB are taken', {
      limit: planGb ?? 0,
      used: usedGb,
    });
  return null;
}
