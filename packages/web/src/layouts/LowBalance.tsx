import { useT } from '../i18n/i18n.ts';
import { Notice } from './Notice.tsx';

/** While a balance that lasts less than a day is all that keeps data which no cloud can save. */
export function LowBalance() {
  const t = useT();
  return (
    <Notice
      tone="warn"
      title={t('Your balance lasts less than a day.')}
      detail={t(
        'Servers that cannot be stopped are terminated before it is empty, and the data on them is lost. Save what you need.',
      )}
    />
  );
}
