import type { PlainEventName } from '@stagi/contract/analytics.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { NavLink, useLocation } from 'react-router';
import { track } from '../api/analytics.ts';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { LinkTabs } from '../ui/LinkTabs.tsx';
import { opens } from './menuGate.ts';
import { RouteIcon } from './routeIcons.tsx';
import classes from './SubNav.module.css';
import { SECTIONS } from './sections.ts';

const EVENTS: Record<string, PlainEventName> = {
  [ROUTES.marketplace.path]: 'cloud_tab_hardware_marketplace_clicked',
  [ROUTES.instances.path]: 'cloud_tab_instances_clicked',
  [ROUTES.selfInstances.path]: 'cloud_tab_self_hosted_clicked',
  [ROUTES.containers.path]: 'cloud_tab_containers_clicked',
};

/** The pages of the section one is in, without those that one's role does not open. */
export function SubNav() {
  const t = useT();
  const { pathname } = useLocation();
  const state = useUserState();
  const section = SECTIONS.find(({ under }) => pathname === under || pathname.startsWith(`${under}/`));
  if (!section) return null;
  const permissions = state.is === 'here' ? state.user.permissions : [];
  const tabs = section.places
    .filter((route) => state.is !== 'here' || opens(route, permissions))
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
