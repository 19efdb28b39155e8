import { text } from '@stagi/contract/text.ts';
import type { CallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { RepeatedRows } from '../../../launchForm/RepeatedRows.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { type Draft, newSource, SOURCE_KINDS, type SourceKind } from './draft.ts';
import classes from './Entry.module.css';

const KIND_WORDS: Record<SourceKind, string> = {
  url: text('A page'),
  repo: text('A file of a repository'),
  computed: text('A computation'),
};

/** Where the numbers come from: at least one line. */
export function SourceRows({ calls: { form, field } }: { calls: CallForm<Draft> }) {
  const t = useT();
  const rows = form.values.source;
  return (
    <RepeatedRows
      label={t('Sources')}
      hint={t('Where what you entered comes from. Visitors see it beside the numbers.')}
      addLabel={t('Add a source')}
      rows={rows}
      onAdd={() => form.insertListItem('source', newSource())}
      onRemove={(index) => form.removeListItem('source', index)}
      error={field('source').error}
      testId="add-source"
    >
      {(index) => {
        const input = (path: string, label: string, placeholder: string) => (
          <TextInput
            aria-label={label}
            placeholder={placeholder}
            title={label}
            name={`source.${index}.${path}`}
            autoComplete="off"
            {...field(`source.${index}.${path}`)}
          />
        );
        const kind = rows[index]?.kind ?? 'url';
        return (
          <div className={classes.line}>
            <Select
              aria-label={t('Kind of source')}
              options={SOURCE_KINDS.map((value) => ({ value, label: t(KIND_WORDS[value]) }))}
              value={kind}
              onChange={(value) => form.setFieldValue(`source.${index}.kind`, value ?? 'url')}
            />
            {kind === 'url' && input('url', t('Address'), 'https://')}
            {kind === 'repo' && (
              <>
                {input('repo', t('Repository'), t('owner/name'))}
                {input('path', t('Path'), 'config.json')}
                {input('commit', t('Commit'), t('Commit, optional'))}
              </>
            )}
            {kind === 'computed'
              ? input('computed', t('How it was computed'), t('How it was computed'))
              : input('note', t('What it tells'), t('What it tells'))}
          </div>
        );
      }}
    </RepeatedRows>
  );
}
