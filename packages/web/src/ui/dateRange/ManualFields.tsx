import { TextInput } from '@mantine/core';
import { type ChangeEvent, useLayoutEffect, useRef } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { DEFAULT_END_TIME, DEFAULT_START_TIME } from '../kitConstants.ts';
import classes from './DateRange.module.css';
import { type FieldName, MASK, masked, type RangeFields } from './fields.ts';

interface Props {
  fields: RangeFields;
  /** These show that they are wrong; there is no message. */
  flagged: ReadonlySet<FieldName>;
  onType(typed: Partial<RangeFields>): void;
  onLeave(name: FieldName): void;
}

const DATE_SHOWN = 'DD/MM/YYYY';

/** Start and end, typed: dates as DD/MM/YYYY, times as HH:mm or empty. */
export function ManualFields(props: Props) {
  const t = useT();
  return (
    <div className={classes.fields}>
      <Field {...props} name="startDate" label={t('Start date')} placeholder={DATE_SHOWN} />
      <Field {...props} name="startTime" label={t('Start time')} placeholder={DEFAULT_START_TIME} />
      <Field {...props} name="endDate" label={t('End date')} placeholder={DATE_SHOWN} />
      <Field {...props} name="endTime" label={t('End time')} placeholder={DEFAULT_END_TIME} />
    </div>
  );
}

function Field({
  name,
  label,
  placeholder,
  fields,
  flagged,
  onType,
  onLeave,
}: Props & { name: FieldName; label: string; placeholder: string }) {
  const input = useRef<HTMLInputElement>(null);
  const caret = useRef<number | null>(null);

  // The browser puts the cursor at the end of a text that it did not write itself.
  useLayoutEffect(() => {
    if (caret.current !== null) input.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });

  function type({ currentTarget: { value, selectionStart } }: ChangeEvent<HTMLInputElement>): void {
    const shown = masked(MASK[name], value);
    const atEnd = selectionStart === null || selectionStart === value.length;
    caret.current = atEnd ? null : placeAfter(shown, digitsIn(value.slice(0, selectionStart)));
    onType({ [name]: shown });
  }

  return (
    <TextInput
      ref={input}
      size="xs"
      label={label}
      placeholder={placeholder}
      inputMode="numeric"
      autoComplete="off"
      classNames={{ input: 'mono' }}
      value={fields[name]}
      error={flagged.has(name)}
      data-testid={`range-${name}`}
      onChange={type}
      onBlur={() => onLeave(name)}
    />
  );
}

function digitsIn(text: string): number {
  return text.replace(/\D/g, '').length;
}

/** Behind so many digits of a masked text. */
function placeAfter(shown: string, digits: number): number {
  let place = 0;
  for (let seen = 0; seen < digits && place < shown.length; place += 1) if (/\d/.test(shown[place] ?? '')) seen += 1;
  return place;
}
