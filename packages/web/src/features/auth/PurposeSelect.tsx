import { PURPOSES, type Purpose } from '@stagi/contract/purposes.ts';
import type { FieldProps } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import { Select } from '../../ui/form/Select.tsx';

const WORDS: Record<Purpose, string> = {
  training: text('Training models'),
  inference: text('Running models'),
  research: text('Research'),
  learning: text('Learning and teaching'),
  other: text('Something else'),
};

/** What somebody wants to do here. */
export function PurposeSelect(field: FieldProps) {
  const t = useT();
  return (
    <Select
      label={t('What for?')}
      optional
      clearable
      options={PURPOSES.map((purpose) => ({ value: purpose, label: t(WORDS[purpose]) }))}
      {...field}
    />
  );
}
