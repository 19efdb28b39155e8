import { useT } from '../../i18n/i18n.ts';
import { NumberInput } from '../../ui/form/NumberInput.tsx';
import { Slider } from '../../ui/form/Slider.tsx';
import { formatNumber } from '../../ui/format.ts';
import { largestSize, MAX_GB, restOfPlan, type SizeBounds, wholeGb } from './storageSize.ts';

interface Props {
  bounds: SizeBounds;
  /** What is typed; text while it is no number. */
  value: number | string;
  onChange(sizeGb: number | string): void;
  /** What was typed is complete. */
  onBlur(): void;
  error?: string;
}

/** The size in GB, dragged up to what the plan leaves, or typed. */
export function SizeField({ bounds, value, onChange, onBlur, error }: Props) {
  const t = useT();
  const { storedGb: min } = bounds;
  const rest = restOfPlan(bounds);
  const max = largestSize(bounds);
  return (
    <Slider
      label={t('Size, GB')}
      labels={['', t('GB')]}
      min={min}
      max={Math.max(min + 1, max)}
      value={wholeGb(value)}
      onChange={onChange}
      error={error}
      description={
        rest === null
          ? t('From {{min}} to {{max}} GB', { min: formatNumber(min, 0), max: formatNumber(MAX_GB, 0) })
          : t('Your plan leaves {{rest}} of {{total}} GB', {
              rest: formatNumber(Math.max(0, rest), 0),
              total: formatNumber(bounds.offer.planGb ?? 0, 0),
            })
      }
      beside={
        <NumberInput
          aria-label={t('Size, GB')}
          w={112}
          min={min}
          max={max}
          // What does not fit is said, not changed.
          clampBehavior="none"
          allowDecimal={false}
          value={value}
          onChange={onChange}
          onBlur={onBlur}
          error={error !== undefined}
          data-testid="storage-size"
        />
      }
    />
  );
}
