import { useT } from '../i18n/i18n.ts';
import { formatDate } from '../ui/format.ts';
import { Notice } from './Notice.tsx';

/** Tells why data is older than people remember, and why nothing can be changed. */
export function HeldNotice({ since }: { since: string }) {
  const t = useT();
  return (
    <Notice
      tone="warn"
      title={t('This platform was restored from a backup of {{moment}} and is held.', { moment: formatDate(since) })}
      detail={t('It shows its data; nothing can be changed until an operator releases it.')}
    />
  );
}
