import { type ReactNode, useState } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { isAllowed, LIMITS, type LimitName } from '../modelChoice.ts';

interface Props {
  label: string;
  name: LimitName;
  /** Null: nothing is set, which only an optional field may be. */
  value: number | null;
  onChange(value: number | null): void;
  optional?: boolean;
  /** Unless its own limit is lower. */
  max?: { value: number; message: string };
  description?: ReactNode;
  /** What is wrong with it together with other fields. */
  error?: string;
}

/** A number of the choice. What is typed stays, and counts once it is allowed; until then the field says why not. */
export function NumberField({ label, name, value, onChange, optional = false, max, description, error }: Props) {
  const t = useT();
  const [typed, setTyped] = useState<number | string>(value ?? '');
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // Changed from elsewhere, such as by a button beside it.
    setKnown(value);
    if (numberOf(typed) !== value) setTyped(value ?? '');
  }
  const limit = LIMITS[name];

  function problemOf(text: number | string): string | undefined {
    const number = numberOf(text);
    if (number === null) return optional ? undefined : t('Please enter a number');
    if (max && number > max.value) return max.message;
    return isAllowed(number, name)
      ? undefined
      : t('From {{min}} to {{max}}', { min: formatNumber(limit.min, 3), max: formatNumber(limit.max, 0) });
  }

  function change(text: number | string): void {
    setTyped(text);
    const number = numberOf(text);
    if (problemOf(text) !== undefined || number === value) return;
    setKnown(number);
    onChange(number);
  }

  return (
    <NumberInput
      label={label}
      description={description}
      optional={optional}
      min={limit.min}
      max={max?.value ?? limit.max}
      // What is not allowed is said, not changed.
      clampBehavior="none"
      allowDecimal={name === 'rate'}
      value={typed}
      onChange={change}
      error={problemOf(typed) ?? error}
      data-testid={`choice-${name}`}
    />
  );
}

const numberOf = (text: number | string): number | null => (String(text).trim() === '' ? null : Number(text));
