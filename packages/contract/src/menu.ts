import type { PlainEventName } from './analytics.ts';
import type { Permission } from './permissions.ts';
import { pageExists } from './routes.ts';
import { text } from './text.ts';

export interface MenuItem {
  name: string;
  route: string;
  testId: string;
  /** Disabled without any of these permissions. */
  needs?: readonly Permission[];
  /** Hidden without any of these permissions. */
  shownWith?: readonly Permission[];
  /** Only on the mobile panel, and only for visitors without a session. */
  onlyAnonymousMobile?: boolean;
  /** Sent when the item of the header is followed. */
  analyticsEvent?: PlainEventName;
  /** Sent when the same link elsewhere is followed, and in the header where it has no event of its own. */
  frontendEvent?: PlainEventName;
  /** The operator's own address of it, which takes the place of `route` once it is configured. */
  setting?: 'docsUrl' | 'tutorialsUrl' | 'partnerMarketplaceUrl';
}

const CLOUD: readonly Permission[] = ['INSTANCE_RENTED', 'SELFHOSTED_INSTANCE'];

/** The complete main menu, with pages that do not exist yet (specification sections 2 and 6). */
export const WHOLE_MENU: readonly MenuItem[] = [
  { name: text('Home'), route: '/', testId: 'menu-home', onlyAnonymousMobile: true },
  { name: text('Models'), route: '/models', testId: 'menu-models', analyticsEvent: 'header_tab_models_clicked' },
  {
    name: text('Cloud'),
    route: '/cloud',
    testId: 'menu-cloud',
    needs: CLOUD,
    analyticsEvent: 'header_tab_cloud_clicked',
  },
  { name: text('Projects'), route: '/projects', testId: 'menu-projects', needs: ['PROJECT'] },
  {
    name: text('Docs'),
    route: '/docs',
    testId: 'menu-docs',
    analyticsEvent: 'header_tab_docs_clicked',
    frontendEvent: 'frontend_docs_clicked',
    setting: 'docsUrl',
  },
  { name: text('Blog'), route: '/blog', testId: 'menu-blog', shownWith: CLOUD, frontendEvent: 'frontend_blog_clicked' },
  {
    name: text('Contact Us'),
    route: '/contact',
    testId: 'menu-contact',
    analyticsEvent: 'header_tab_contact_us_clicked',
    frontendEvent: 'frontend_contact_clicked',
  },
];

/** The further links of the mobile panel and the footer. Those without a page or an address are not shown. */
export const FURTHER_MENU: readonly MenuItem[] = [
  {
    name: text('Tutorials'),
    route: '/tutorials',
    testId: 'menu-tutorials',
    analyticsEvent: 'header_tab_tutorials_clicked',
    setting: 'tutorialsUrl',
  },
  {
    name: text('Partner marketplace'),
    route: '',
    testId: 'menu-partner',
    frontendEvent: 'frontend_partner_marketplace_clicked',
    setting: 'partnerMarketplaceUrl',
  },
];

/** The items whose page exists. */
export const MENU: readonly MenuItem[] = WHOLE_MENU.filter(({ route }) => pageExists(route));

const ALL_LEGAL = [
  { name: text('Terms Of Use'), route: '/terms-of-service' },
  { name: text('Privacy Policy'), route: '/privacy-policy' },
  { name: text('AI Use Policy'), route: '/ai-use-policy' },
] as const;

/** The footer's legal pages that exist. */
export const LEGAL = ALL_LEGAL.filter(({ route }) => pageExists(route));
