import type { ClipboardEvent } from 'react';
import type { FieldProps } from '../api/useCallForm.ts';
import { useT } from '../i18n/i18n.ts';
import { TextInput } from '../ui/form/TextInput.tsx';
import { type EnvRow, newEnvRow } from './envRow.ts';
import { RepeatedRows } from './RepeatedRows.tsx';

/** The part of a form's state that holds the variables. */
interface EnvForm {
  values: { env: EnvRow[] };
  insertListItem(path: 'env', row: EnvRow): void;
  removeListItem(path: 'env', index: number): void;
  setFieldValue(path: 'env', rows: EnvRow[]): void;
}

interface Props {
  form: EnvForm;
  field(path: string): FieldProps;
}

export function EnvRows({ form, field }: Props) {
  const t = useT();
  /** Lines of `NAME=value` pasted into a name become rows of their own. */
  function paste(event: ClipboardEvent<HTMLInputElement>, index: number): void {
    const lines = event.clipboardData
      .getData('text')
      .split(/\r?\n/)
      .map((line) => /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)$/.exec(line))
      .filter((match) => match !== null);
    if (lines.length === 0) return;
    event.preventDefault();
    const rows = lines.map(([, name = '', value = '']) => newEnvRow(name, unquoted(value)));
    form.setFieldValue('env', form.values.env.toSpliced(index, 1, ...rows));
  }

  return (
    <RepeatedRows
      label={t('Environment')}
      hint={t('Kept encrypted, not shown again. Lines of NAME=value can be pasted at once')}
      addLabel={t('Add a variable')}
      rows={form.values.env}
      onAdd={() => form.insertListItem('env', newEnvRow())}
      onRemove={(index) => form.removeListItem('env', index)}
      error={field('env').error}
      testId="add-env"
    >
      {(index) => (
        <>
          <TextInput
            aria-label={t('Name of the variable')}
            placeholder="NAME"
            spellCheck={false}
            autoComplete="off"
            classNames={{ input: 'mono' }}
            onPaste={(event) => paste(event, index)}
            {...field(`env.${index}.name`)}
          />
          <TextInput
            aria-label={t('Value of the variable')}
            placeholder={form.values.env[index]?.kept ? t('unchanged') : t('value')}
            spellCheck={false}
            autoComplete="off"
            classNames={{ input: 'mono' }}
            {...field(`env.${index}.value`)}
          />
        </>
      )}
    </RepeatedRows>
  );
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value.trim())?.[2] ?? value;
}
