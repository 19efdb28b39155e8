import { isPlainEnvName } from '@stagi/contract/containerFields.ts';
import { IconLock, IconLockOpen } from '@tabler/icons-react';
import type { ClipboardEvent } from 'react';
import type { FieldProps } from '../api/useCallForm.ts';
import { useT } from '../i18n/i18n.ts';
import { TextInput } from '../ui/form/TextInput.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import { type EnvRow, newEnvRow } from './envRow.ts';
import classes from './LaunchForm.module.css';
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
  /** Whether variables can be marked as secret. */
  withSecrets?: boolean;
  /** A shell stands between them and the program. */
  throughShell?: boolean;
}

export function EnvRows({ form, field, withSecrets = false, throughShell = false }: Props) {
  const t = useT();
  const rows = form.values.env;
  /** Lines of `NAME=value` pasted into a name become rows of their own. */
  function paste(event: ClipboardEvent<HTMLInputElement>, index: number): void {
    const lines = event.clipboardData
      .getData('text')
      .split(/\r?\n/)
      .map((line) => /^\s*(?:export\s+)?([^\s=#][^\s=]*)=(.*)$/.exec(line))
      .filter((match) => match !== null);
    if (lines.length === 0) return;
    event.preventDefault();
    const rows = lines.map(([, name = '', value = '']) => newEnvRow(name, unquoted(value)));
    form.setFieldValue('env', form.values.env.toSpliced(index, 1, ...rows));
  }

  function toggleSecret(index: number): void {
    form.setFieldValue(
      'env',
      rows.map((row, at) => (at === index ? { ...row, secret: !row.secret } : row)),
    );
  }

  return (
    <RepeatedRows
      label={t('Environment')}
      hint={
        withSecrets
          ? t(
              'Kept encrypted, not shown again. Lines of NAME=value can be pasted at once. The lock marks a secret: its value is masked in logs',
            )
          : t('Kept encrypted, not shown again. Lines of NAME=value can be pasted at once')
      }
      addLabel={t('Add a variable')}
      rows={rows}
      onAdd={() => form.insertListItem('env', newEnvRow())}
      onRemove={(index) => form.removeListItem('env', index)}
      error={field('env').error}
      testId="add-env"
      beneath={(index) =>
        throughShell &&
        !isPlainEnvName(rows[index]?.name.trim() || 'EMPTY') && (
          <p className="muted">
            {t(
              'The shells of many images (dash, BusyBox) pass no such name on. Where the program does not see it, write it into the command: {{command}}',
              { command: 'env NAME=value program' },
            )}
          </p>
        )
      }
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
            placeholder={rows[index]?.kept ? t('unchanged') : t('value')}
            type={rows[index]?.secret ? 'password' : 'text'}
            spellCheck={false}
            autoComplete={rows[index]?.secret ? 'new-password' : 'off'}
            classNames={{ input: 'mono' }}
            {...field(`env.${index}.value`)}
          />
          {withSecrets && rows[index] && <SecretButton row={rows[index]} onToggle={() => toggleSecret(index)} />}
        </>
      )}
    </RepeatedRows>
  );
}

/** A secret value that is kept stays secret: only another value can be shown in logs. */
function SecretButton({ row, onToggle }: { row: EnvRow; onToggle(): void }) {
  const t = useT();
  const isFixed = row.keptSecret === true && row.value === '';
  return (
    <IconButton
      size="s"
      className={classes.fixed}
      label={row.secret ? t('Secret: masked in logs') : t('Not secret')}
      aria-pressed={row.secret ?? false}
      reason={isFixed ? t('A secret value stays secret. Enter another value to change this') : null}
      onClick={onToggle}
      data-testid="env-secret"
    >
      {row.secret ? <IconLock size={16} /> : <IconLockOpen size={16} />}
    </IconButton>
  );
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value.trim())?.[2] ?? value;
}
