import type { DisabledState } from '@stagi/contract/adminReason.ts';
import { useT } from '../../i18n/i18n.ts';
import { Note } from '../../ui/Note.tsx';
import { DateTime } from '../../ui/Time.tsx';

/** Since when, by whom and why. */
export function DisabledNote({ disabled }: { disabled: DisabledState }) {
  const t = useT();
  if (!disabled) return null;
  return (
    <Note
      tone="warn"
      title={
        <>
          {disabled.by ? t('Disabled by {{name}}', { name: disabled.by }) : t('Disabled')} ·{' '}
          <DateTime at={disabled.at} />
        </>
      }
    >
      {disabled.reason ?? t('No reason was given')}
    </Note>
  );
}
