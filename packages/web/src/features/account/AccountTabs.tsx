import { NavLink } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { LinkTabs } from '../../ui/LinkTabs.tsx';

/** The tabs of the pages about the own account. */
export function AccountTabs() {
  const t = useT();
  return (
    <LinkTabs
      label={t('Account')}
      link={NavLink}
      tabs={[
        { label: t('You'), to: paths.account(), end: true },
        { label: t('Security'), to: paths.security() },
        { label: t('Sessions'), to: paths.sessions() },
      ]}
    />
  );
}
