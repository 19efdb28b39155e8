import type { PlainEventName } from '@stagi/contract/analytics.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { NavLink, useLocation } from 'react-router';
import { canOpen } from '../../access/permissionChecks.ts';
import { track } from '../../api/analytics.ts';
import { useUserState } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { RouteIcon } from '../../navigation/routeIcons.tsx';
import { SECTIONS } from '../../navigation/sections.ts';
import { LinkTabs } from '../../ui/LinkTabs.tsx';
import classes from './SectionTabs.module.css';

const EVENTS: Record<string, PlainEventName> = {
  [ROUTES.marketplace.path]: 'cloud_tab_hardware_marketplace_clicked',
  [ROUTES.instances.path]: 'cloud_tab_instances_clicked',
  [ROUTES.selfInstances.path]: 'cloud_tab_self_hosted_clicked',
  [ROUTES.containers.path]: 'cloud_tab_containers_clicked',
};

/** The pages of the current section that the person's role opens. */
export function SectionTabs() {
  const t = useT();
  const { pathname } = useLocation();
  const state = useUserState();
  const section = SECTIONS.find(({ under }) => pathname === under || pathname.startsWith(`${under}/`));
  if (!section) return null;
  const permissions = state.is === 'signed-in' ? state.user.permissions : [];
  const tabs = section.places
    .filter((route) => state.is !== 'signed-in' || canOpen(route, permissions))
    .map(({ title, path }) => ({
      label: t(title),
      to: path,
      icon: <RouteIcon path={path} />,
      onClick: () => EVENTS[path] && track(EVENTS[path]),
    }));
  return (
    <div className={classes.bar}>
      <div className={classes.inner}>
        <LinkTabs label={t(section.title)} tabs={tabs} link={NavLink} />
      </div>
    </div>
  );
}
