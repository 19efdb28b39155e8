import { useT } from '../i18n/i18n.ts';
import { Notice } from './Notice.tsx';

/** Warns when the balance lasts less than a day and servers that cannot be stopped would lose their data. */
export function LowBalanceNotice() {
  const t = useT();
  return (
    <Notice
      tone="warn"
      title={t('Your balance lasts less than a day.')}
      detail={t(
        'Servers that cannot be stopped are terminated before the balance runs out, and the data on them is lost. Save what you need.',
      )}
    />
  );
}
