import type { Permission } from './permissions.ts';

export const LAYOUTS = ['default', 'docs', 'home', 'app', 'sign'] as const;
export type Layout = (typeof LAYOUTS)[number];

export interface Route {
  /** With `:id` for a number and `:name` for a word. */
  path: string;
  layout: Layout;
  /** Open to visitors without a session. */
  public?: boolean;
  /** Any one of them suffices; empty: open to all signed-in users. */
  permissions?: readonly Permission[];
  footer?: boolean;
  /** Visitors without an account are told that they have none. */
  demoNotice?: boolean;
  /** The page's own title, also its breadcrumb. */
  title: string;
  /** The breadcrumb above it. */
  parent?: string;
}

const RENTED: readonly Permission[] = ['INSTANCE_RENTED_MANAGEMENT'];
/** The platform's own operators. */
const STAFF: readonly Permission[] = ['EMPLOYEE'];
const OWN: readonly Permission[] = ['SELFHOSTED_INSTANCE_MANAGEMENT'];

/** The routes that exist (specification sections 2 and 6), with what each asks of a visitor. */
export const ROUTES = {
  home: { path: '/', layout: 'home', public: true, footer: true, title: 'Home' },
  signIn: { path: '/sign-in', layout: 'sign', public: true, demoNotice: true, title: 'Log in' },
  secondFactor: { path: '/sign-in/second-factor', layout: 'sign', public: true, title: 'Second factor' },
  signUp: { path: '/sign-up', layout: 'sign', public: true, demoNotice: true, title: 'Sign up' },
  confirmation: { path: '/confirmation', layout: 'sign', public: true, title: 'Confirm your e-mail' },
  recovery: { path: '/recovery', layout: 'sign', public: true, title: 'New password' },
  /** Where an app asks to be let in; its request is in the query. */
  consent: { path: '/consent', layout: 'default', title: 'Connect an app' },
  /** After the first sign-in, once. */
  signUpForm: { path: '/sign-up/form', layout: 'sign', title: 'About you' },
  /** Where those come back to who went to log in there; Google itself leads to /sign-in, with a token in the hash. */
  authGoogle: { path: '/auth/google', layout: 'default', public: true, title: 'Log in with Google' },
  authGithub: { path: '/auth/github', layout: 'default', public: true, title: 'Log in with GitHub' },
  forbidden: { path: '/403', layout: 'default', public: true, footer: true, title: 'No access' },
  /** The gallery of the kit; only where the page is served from this machine. */
  kit: { path: '/kit', layout: 'default', public: true, title: 'Kit' },
  cloud: { path: '/cloud', layout: 'app', title: 'Cloud' },
  marketplace: {
    path: '/cloud/marketplace',
    layout: 'app',
    permissions: RENTED,
    title: 'Hardware marketplace',
    parent: '/cloud',
  },
  instances: { path: '/cloud/instances', layout: 'app', permissions: RENTED, title: 'Instances', parent: '/cloud' },
  instance: {
    path: '/cloud/instances/:id',
    layout: 'app',
    permissions: RENTED,
    title: 'Instance',
    parent: '/cloud/instances',
  },
  selfInstances: {
    path: '/cloud/self-instances',
    layout: 'app',
    permissions: OWN,
    title: 'Self-hosted',
    parent: '/cloud',
  },
  selfInstance: {
    path: '/cloud/self-instances/:id',
    layout: 'app',
    permissions: OWN,
    title: 'Server',
    parent: '/cloud/self-instances',
  },
  containers: {
    path: '/cloud/containers',
    layout: 'app',
    permissions: ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'],
    title: 'Containers',
    parent: '/cloud',
  },
  container: {
    path: '/cloud/containers/:id',
    layout: 'app',
    permissions: ['PROJECT_MANAGEMENT', 'INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'],
    title: 'Container',
    parent: '/cloud/containers',
  },
  containerAuth: { path: '/container-auth/:slug', layout: 'default', title: 'Open a container' },
  joinClient: { path: '/join-client/:code', layout: 'default', public: true, title: 'Join a workspace' },
  expiredInvite: { path: '/expired-invite', layout: 'default', public: true, title: 'Expired invitation' },
  profile: { path: '/profile', layout: 'app', title: 'Profile' },
  account: { path: '/profile/account', layout: 'app', title: 'Account', parent: '/profile' },
  security: { path: '/profile/account/security', layout: 'app', title: 'Security', parent: '/profile/account' },
  sessions: { path: '/profile/account/sessions', layout: 'app', title: 'Sessions', parent: '/profile/account' },
  tokens: { path: '/profile/tokens', layout: 'app', title: 'API tokens', parent: '/profile' },
  team: {
    path: '/profile/team',
    layout: 'app',
    permissions: ['INVITE_USERS_TO_CLIENT'],
    title: 'Team',
    parent: '/profile',
  },
  invites: {
    path: '/profile/team/invites',
    layout: 'app',
    permissions: ['INVITE_USERS_TO_CLIENT'],
    title: 'Invites',
    parent: '/profile/team',
  },
  audit: {
    path: '/profile/team/audit',
    layout: 'app',
    permissions: ['CLIENT_MANAGEMENT'],
    title: 'Audit log',
    parent: '/profile/team',
  },
  balance: {
    path: '/profile/balance',
    layout: 'app',
    permissions: ['BILLING'],
    title: 'Transactions & Plans',
    parent: '/profile',
  },
  usage: {
    path: '/profile/usage',
    layout: 'app',
    permissions: ['BILLING'],
    title: 'Usage',
    parent: '/profile',
  },
  sshKeys: { path: '/profile/ssh', layout: 'app', title: 'SSH keys', parent: '/profile' },
  admin: { path: '/admin', layout: 'app', permissions: STAFF, title: 'Administration' },
  adminUsers: { path: '/admin/users', layout: 'app', permissions: STAFF, title: 'Users', parent: '/admin' },
  adminPromoCodes: {
    path: '/admin/promo-codes',
    layout: 'app',
    permissions: STAFF,
    title: 'Promo codes',
    parent: '/admin',
  },
  adminLedger: { path: '/admin/ledger', layout: 'app', permissions: STAFF, title: 'Ledger', parent: '/admin' },
  adminWorkspaces: {
    path: '/admin/workspaces',
    layout: 'app',
    permissions: STAFF,
    title: 'Workspaces',
    parent: '/admin',
  },
  adminStrays: { path: '/admin/strays', layout: 'app', permissions: STAFF, title: 'Strays', parent: '/admin' },
  adminProviders: { path: '/admin/providers', layout: 'app', permissions: STAFF, title: 'Clouds', parent: '/admin' },
  adminFeedback: { path: '/admin/feedback', layout: 'app', permissions: STAFF, title: 'Feedback', parent: '/admin' },
  adminAudit: { path: '/admin/audit', layout: 'app', permissions: STAFF, title: 'Audit log', parent: '/admin' },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

/** Whether a page of this address exists; menus list only those that do. */
export function pageExists(path: string): boolean {
  return Object.values<Route>(ROUTES).some((route) => route.path === path);
}
