import type { Permission } from './permissions.ts';

export interface MenuItem {
  name: string;
  route: string;
  testId: string;
  /** Greyed out unless any one is held. */
  needs?: readonly Permission[];
  /** Hidden unless any one is held. */
  shownWith?: readonly Permission[];
  /** Only on the mobile panel, and only for visitors without a session. */
  onlyAnonymousMobile?: boolean;
  analyticsEvent?: string;
}

/** The main menu (specification sections 2 and 6). Items of pages that do not exist yet are not in it. */
export const MENU: readonly MenuItem[] = [
  { name: 'Home', route: '/', testId: 'menu-home', onlyAnonymousMobile: true },
  {
    name: 'Cloud',
    route: '/cloud',
    testId: 'menu-cloud',
    needs: ['INSTANCE_RENTED', 'SELFHOSTED_INSTANCE'],
    analyticsEvent: 'header_tab_cloud_clicked',
  },
];
