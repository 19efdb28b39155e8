import { useT } from '../../../i18n/i18n.ts';
import { Select } from '../../../ui/form/Select.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { formatContext, formatParameters, licenceName, TASK_WORDS, TASKS, type Task } from '../modelWords.ts';
import { numberOf } from './draft.ts';
import classes from './Entry.module.css';
import type { EntryFormProps } from './entryFormProps.ts';
import { NumberText } from './NumberText.tsx';
import { Shipped } from './Shipped.tsx';

/** What the model is, and how large. */
export function BasicFields({ isNew, ...form }: EntryFormProps & { isNew: boolean }) {
  const t = useT();
  const { calls } = form;
  const { values } = calls.form;
  const told = (text: string, format: (count: number) => string): string | undefined => {
    const count = numberOf(text);
    return typeof count === 'number' && count > 0 ? format(count) : undefined;
  };
  const field = (path: string, label: string, more: { optional?: boolean; description?: string } = {}) => (
    <div>
      <TextInput label={label} name={path} autoComplete="off" {...more} {...calls.field(path)} />
      <Shipped {...form} path={path} label={label} show={path === 'licence' ? licenceName : undefined} />
    </div>
  );
  return (
    <div className={classes.fields}>
      <TextInput
        label={t('Repository')}
        description={isNew ? t('On the hub: owner/name') : undefined}
        name="modelId"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        readOnly={!isNew}
        classNames={{ input: 'mono' }}
        data-autofocus={isNew || undefined}
        {...calls.field('modelId')}
      />
      {field('name', t('Title'))}
      {field('publisher', t('Publisher'))}
      <div>
        <Select
          label={t('Task')}
          name="task"
          options={TASKS.map((value) => ({ value, label: t(TASK_WORDS[value]) }))}
          {...calls.field('task')}
        />
        <Shipped {...form} path="task" label={t('Task')} show={(task) => t(TASK_WORDS[task as Task])} />
      </div>
      <NumberText
        {...form}
        path="parameters.total"
        label={t('Parameters')}
        description={told(values.parameters.total ?? '', formatParameters) ?? t('All of them, not in billions')}
      />
      <NumberText
        {...form}
        path="parameters.active"
        label={t('Active parameters')}
        optional
        description={told(values.parameters.active ?? '', formatParameters) ?? t('Of a mixture of experts')}
      />
      <NumberText
        {...form}
        path="contextLength"
        label={t('Context in tokens')}
        optional
        description={told(values.contextLength, formatContext)}
      />
      {field('licence', t('Licence'), { optional: true, description: t('As the hub calls it: apache-2.0') })}
      {field('releasedAt', t('Released'), { optional: true, description: t('A day or a month: 2026-05-31, 2026-05') })}
    </div>
  );
}
