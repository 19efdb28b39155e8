import { useState } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { Select } from '../../../ui/form/Select.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import classes from './Entry.module.css';
import type { EntryFormProps } from './entryFormProps.ts';
import { ARCHITECTURE } from './entryNumbers.ts';
import { NumberText } from './NumberText.tsx';
import { Shipped } from './Shipped.tsx';

const MORE = ['tiedEmbeddings', 'linearAttention', 'kind', 'capabilities', 'doubts'];
const PATHS = [...ARCHITECTURE.flatMap(({ numbers }) => numbers.map(([path]) => path)), ...MORE];

/** The numbers that memory and speed are computed from, folded away until they are wanted or wrong. */
export function ArchitectureFields(form: EntryFormProps) {
  const t = useT();
  const { errors } = form.calls.form;
  const [opened, setOpened] = useState(false);
  const isWrong = PATHS.some((path) => errors[path] !== undefined);
  return (
    <details
      className={classes.fold}
      open={opened || isWrong}
      onToggle={(event) => setOpened(event.currentTarget.open)}
      data-testid="entry-architecture"
    >
      <summary>{t('Architecture')}</summary>
      <p className={classes.small}>
        {t('As in the configuration file of the model. Without layers, sizes, heads and vocabulary no speed is told.')}
      </p>
      {ARCHITECTURE.map(({ title, numbers }) => (
        <div key={title}>
          <h4>{t(title)}</h4>
          <div className={classes.fields}>
            {numbers.map(([path, label]) => (
              <NumberText key={path} {...form} path={path} label={t(label)} />
            ))}
          </div>
        </div>
      ))}
      <h4>{t('More')}</h4>
      <div className={classes.fields}>
        <YesNo {...form} path="tiedEmbeddings" label={t('Embedding and head are one matrix')} />
        <YesNo {...form} path="linearAttention" label={t('Linear attention')} />
        <Line {...form} path="kind" label={t('Kind')} />
        <Line {...form} path="capabilities" label={t('Capabilities')} />
      </div>
      <div className={classes.below}>
        <Textarea
          label={t('Doubts')}
          optional
          minRows={2}
          description={t('What the sources leave open; visitors see it, in English.')}
          name="doubts"
          {...form.calls.field('doubts')}
        />
        <Shipped {...form} path="doubts" label={t('Doubts')} />
      </div>
    </details>
  );
}

function YesNo({ path, label, ...form }: EntryFormProps & { path: string; label: string }) {
  const t = useT();
  const words: Record<string, string> = { yes: t('Yes'), no: t('No') };
  const { onChange, ...field } = form.calls.field(path);
  return (
    <div>
      <Select
        label={label}
        name={path}
        mayBeEmpty
        placeholder={t('Not known')}
        options={Object.entries(words).map(([value, word]) => ({ value, label: word }))}
        {...field}
        onChange={(value) => onChange(value ?? '')}
      />
      <Shipped {...form} path={path} label={label} show={(value) => words[value] ?? value} />
    </div>
  );
}

function Line({ path, label, ...form }: EntryFormProps & { path: string; label: string }) {
  return (
    <div>
      <TextInput label={label} name={path} autoComplete="off" {...form.calls.field(path)} />
      <Shipped {...form} path={path} label={label} />
    </div>
  );
}
