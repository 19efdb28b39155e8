import { useT } from '../../i18n/i18n.ts';
import { TextInput } from '../form/TextInput.tsx';
import { DEFAULT_END_TIME, DEFAULT_START_TIME } from '../kitConstants.ts';
import classes from './DateRange.module.css';
import { type FieldName, MASK, type RangeFields } from './fields.ts';

interface Props {
  fields: RangeFields;
  /** These show that they are wrong; there is no message. */
  fieldsWithError: ReadonlySet<FieldName>;
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

interface FieldProps extends Props {
  name: FieldName;
  label: string;
  placeholder: string;
}

function Field({ name, label, placeholder, fields, fieldsWithError, onType, onLeave }: FieldProps) {
  return (
    <TextInput
      size="xs"
      mask={MASK[name]}
      label={label}
      placeholder={placeholder}
      classNames={{ input: 'mono' }}
      value={fields[name]}
      error={fieldsWithError.has(name)}
      data-testid={`range-${name}`}
      onChange={(event) => onType({ [name]: event.currentTarget.value })}
      onBlur={() => onLeave(name)}
    />
  );
}
