import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { IconBox, IconBuildingStore, IconKey, IconServer2, IconServerBolt, IconUser } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { NavLink, useLocation } from 'react-router';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { LinkTabs } from '../ui/LinkTabs.tsx';
import classes from './SubNav.module.css';

interface Place {
  route: Route;
  icon: ReactNode;
}

const SECTIONS: readonly { under: string; title: string; places: readonly Place[] }[] = [
  {
    under: ROUTES.cloud.path,
    title: ROUTES.cloud.title,
    places: [
      { route: ROUTES.marketplace, icon: <IconBuildingStore size={16} /> },
      { route: ROUTES.instances, icon: <IconServerBolt size={16} /> },
      { route: ROUTES.selfInstances, icon: <IconServer2 size={16} /> },
      { route: ROUTES.containers, icon: <IconBox size={16} /> },
    ],
  },
  {
    under: ROUTES.profile.path,
    title: ROUTES.profile.title,
    places: [
      { route: ROUTES.account, icon: <IconUser size={16} /> },
      { route: ROUTES.sshKeys, icon: <IconKey size={16} /> },
    ],
  },
];

/** The pages of the section one is in, without those that one's role does not open. */
export function SubNav() {
  const t = useT();
  const { pathname } = useLocation();
  const state = useUserState();
  const section = SECTIONS.find(({ under }) => pathname === under || pathname.startsWith(`${under}/`));
  if (!section) return null;
  const permissions = state.is === 'here' ? state.user.permissions : [];
  const tabs = section.places
    .filter(({ route }) => state.is !== 'here' || opens(route, permissions))
    .map(({ route, icon }) => ({ label: t(route.title), to: route.path, icon }));
  return (
    <div className={classes.bar}>
      <div className={classes.inner}>
        <LinkTabs label={t(section.title)} tabs={tabs} link={NavLink} />
      </div>
    </div>
  );
}

function opens(route: Route, permissions: readonly Permission[]): boolean {
  return !route.permissions || holdsAny(permissions, route.permissions);
}
