import { PURPOSES, type Purpose } from '@stagi/contract/purposes.ts';
import { text } from '@stagi/contract/text.ts';
import type { FieldProps } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Select } from '../../ui/form/Select.tsx';

const WORDS: Record<Purpose, string> = {
  training: text('Training models'),
  inference: text('Running models'),
  research: text('Research'),
  learning: text('Learning and teaching'),
  other: text('Something else'),
};

/** What the person wants to use the platform for. */
export function PurposeSelect(field: FieldProps) {
  const t = useT();
  return (
    <Select
      label={t('Purpose')}
      optional
      mayBeEmpty
      options={PURPOSES.map((purpose) => ({ value: purpose, label: t(WORDS[purpose]) }))}
      {...field}
    />
  );
}
