import type { Model } from '@stagi/contract/models.ts';
import { useT } from '../../../i18n/i18n.ts';
import { formatDay } from '../../../ui/format.ts';
import { Note } from '../../../ui/Note.tsx';
import { SourceLines } from './SourceList.tsx';

/** What an operator of this installation has changed, and why. */
export function ChangeNote({ change }: { change: NonNullable<Model['change']> }) {
  const t = useT();
  return (
    <Note
      title={
        change.kind === 'added'
          ? t('An operator of this platform has added this model')
          : t('An operator of this platform has changed: {{fields}}', { fields: change.fields.join(', ') })
      }
    >
      {t('Sources of {{date}}', { date: formatDay(change.changedAt.slice(0, 10)) })}
      <SourceLines source={change.source} />
    </Note>
  );
}
