import { useT } from '../i18n/i18n.ts';
import { Notice } from './Notice.tsx';

/** For everybody: DEV_MAIL shows the mails of a platform that others can reach. */
export function PublicOutboxNotice() {
  const t = useT();
  return (
    <Notice
      title={t('This platform shows its mails to everybody.')}
      detail={t('Anybody who reads the codes in them can take over any account. Use no real data here.')}
    />
  );
}
