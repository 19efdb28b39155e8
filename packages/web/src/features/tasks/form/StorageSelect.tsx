import { text } from '@stagi/contract/text.ts';
import type { FieldProps } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Select } from '../../../ui/form/Select.tsx';
import classes from './TaskForm.module.css';
import type { TaskOffer } from './taskOffer.ts';

type OfferedStorage = TaskOffer['storages'][number];

const READ_ONLY = text('Zero balance: this storage is read-only until a deposit');

/** Why a task cannot write its output there; null: it can. */
const refusalOf = ({ readOnly }: OfferedStorage): string | null => (readOnly ? READ_ONLY : null);

export function StorageSelect({ storages, ...bound }: FieldProps & { storages: readonly OfferedStorage[] }) {
  const t = useT();
  const chosen = storages.find(({ id }) => String(id) === bound.value);
  const refusal = chosen ? refusalOf(chosen) : null;
  return (
    <Select
      label={t('Storage')}
      description={t('Where the input is read from, and the output is written to')}
      options={storages.map((storage) => ({
        storage,
        value: String(storage.id),
        label: storage.title,
        disabled: refusalOf(storage) !== null,
      }))}
      renderOption={({ storage }) => {
        const reason = refusalOf(storage);
        return (
          <span className={classes.option}>
            <span className={classes.optionTitle}>{storage.title}</span>
            <span className={classes.optionFacts}>
              {reason === null ? <span className="mono">{storage.slug}</span> : t(reason)}
            </span>
          </span>
        );
      }}
      data-testid="task-storage"
      {...bound}
      onChange={(id: string | null) => bound.onChange(id ?? '')}
      error={bound.error ?? (refusal === null ? undefined : t(refusal))}
    />
  );
}
