import type { PlainEventName } from './analytics.ts';
import type { Permission } from './permissions.ts';
import { pageExists } from './routes.ts';

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
  analyticsEvent?: PlainEventName;
}

const CLOUD: readonly Permission[] = ['INSTANCE_RENTED', 'SELFHOSTED_INSTANCE'];

/** The main menu as it will be (specification sections 2 and 6). */
export const WHOLE_MENU: readonly MenuItem[] = [
  { name: 'Home', route: '/', testId: 'menu-home', onlyAnonymousMobile: true },
  { name: 'Models', route: '/models', testId: 'menu-models', analyticsEvent: 'header_tab_models_clicked' },
  {
    name: 'Cloud',
    route: '/cloud',
    testId: 'menu-cloud',
    needs: CLOUD,
    analyticsEvent: 'header_tab_cloud_clicked',
  },
  { name: 'Projects', route: '/projects', testId: 'menu-projects', needs: ['PROJECT'] },
  { name: 'Docs', route: '/docs', testId: 'menu-docs', analyticsEvent: 'header_tab_docs_clicked' },
  { name: 'Blog', route: '/blog', testId: 'menu-blog', shownWith: CLOUD },
  {
    name: 'Contact Us',
    route: '/contact',
    testId: 'menu-contact',
    analyticsEvent: 'header_tab_contact_us_clicked',
  },
];

/** The items whose page exists. */
export const MENU: readonly MenuItem[] = WHOLE_MENU.filter(({ route }) => pageExists(route));

const ALL_LEGAL = [
  { name: 'Terms Of Use', route: '/terms-of-service' },
  { name: 'Privacy Policy', route: '/privacy-policy' },
  { name: 'AI Use Policy', route: '/ai-use-policy' },
] as const;

/** The footer's legal pages that exist. */
export const LEGAL = ALL_LEGAL.filter(({ route }) => pageExists(route));
