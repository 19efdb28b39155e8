import { ROUTES } from '@stagi/contract/routes.ts';
import { NavLink } from 'react-router';
import { canOpen } from '../../access/permissionChecks.ts';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { LinkTabs } from '../../ui/LinkTabs.tsx';

/** The pages of a team, without those that one's role does not open. */
export function TeamTabs() {
  const t = useT();
  const { permissions } = useUser();
  const tabs = [
    { route: ROUTES.team, label: t('Members'), to: paths.team(), end: true },
    { route: ROUTES.invites, label: t(ROUTES.invites.title), to: paths.invites() },
    { route: ROUTES.audit, label: t(ROUTES.audit.title), to: paths.audit() },
  ];
  return <LinkTabs label={t('Team')} link={NavLink} tabs={tabs.filter(({ route }) => canOpen(route, permissions))} />;
}
