import type { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { useT } from '../../i18n/i18n.ts';
import { Slider } from '../../ui/form/Slider.tsx';
import { formatNumber } from '../../ui/format.ts';

export type StorageForm = OutputOf<typeof api.storages.form>;

/** A storage is never larger. */
const MAX_GB = 10_000;

interface Props {
  offer: StorageForm;
  value: number;
  onChange(sizeGb: number): void;
  error?: string;
  /** GB that the storage to be resized takes of the plan already. */
  taken?: number;
  /** Less cannot be chosen. */
  min?: number;
}

/** The size in GB, up to what the plan leaves. */
export function SizeField({ offer, value, onChange, error, taken = 0, min = 1 }: Props) {
  const t = useT();
  const rest = restOfPlan(offer, taken);
  return (
    <Slider
      label={t('Size, GB')}
      name="sizeGb"
      boxes
      labels={['', t('GB')]}
      min={min}
      max={Math.max(min + 1, largestSize(offer, taken))}
      value={value}
      onChange={onChange}
      error={error}
      description={
        rest === null
          ? t('From {{min}} to {{max}} GB', { min: formatNumber(min, 0), max: formatNumber(MAX_GB, 0) })
          : t('Your plan leaves {{rest}} of {{total}} GB', {
              rest: formatNumber(Math.max(0, rest), 0),
              total: formatNumber(offer.planGb ?? 0, 0),
            })
      }
    />
  );
}

/** GB that the plan leaves for one storage; null: as many as one wants. */
export const restOfPlan = ({ planGb, usedGb }: StorageForm, taken = 0): number | null =>
  planGb === null ? null : planGb - usedGb + taken;

export const largestSize = (offer: StorageForm, taken = 0): number =>
  Math.min(MAX_GB, restOfPlan(offer, taken) ?? MAX_GB);
