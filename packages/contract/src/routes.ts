import type { Permission } from './permissions.ts';
import { text } from './text.ts';

export const LAYOUTS = ['default', 'docs', 'home', 'app', 'sign'] as const;
export type Layout = (typeof LAYOUTS)[number];

export interface Route {
  /** With `:id` or `:taskId` for a number, and any other parameter for a word. */
  path: string;
  /** Its tabs are the next word of the address. */
  tabs?: boolean;
  /** Any words may follow in the address: the page reads them itself. */
  rest?: boolean;
  layout: Layout;
  /** Open to visitors without a session. */
  public?: boolean;
  /** Any of them suffices; empty: for all signed-in users. */
  permissions?: readonly Permission[];
  footer?: boolean;
  /** Shows visitors without a session that they need an account. */
  demoNotice?: boolean;
  /** The page's own title, also its breadcrumb. */
  title: string;
  /** The path of the page that is the breadcrumb above it; `null` where its breadcrumbs begin. */
  parent: string | null;
  /** In px: phones lay the page out at this width and zoom out, as its columns are to be compared side by side. */
  viewportWidth?: number;
}

const RENTED: readonly Permission[] = ['INSTANCE_RENTED_MANAGEMENT'];
/** The permission of operators. */
const STAFF: readonly Permission[] = ['EMPLOYEE'];
/** In px: a screen of this width shows tables, a narrower one shows cards. */
const TABLE_WIDTH = 768;
const OWN: readonly Permission[] = ['SELFHOSTED_INSTANCE_MANAGEMENT'];
const PROJECTS: readonly Permission[] = ['PROJECT_MANAGEMENT'];
const TASKS: readonly Permission[] = ['RUNNING_TASKS'];

/** The routes (specification sections 2 and 6), with what each requires of a visitor. */
export const ROUTES = {
  home: { path: '/', layout: 'home', public: true, footer: true, title: text('Home'), parent: null },
  signIn: { path: '/sign-in', layout: 'sign', public: true, demoNotice: true, title: text('Log in'), parent: '/' },
  secondFactor: {
    path: '/sign-in/second-factor',
    layout: 'sign',
    public: true,
    title: text('Second factor'),
    parent: '/sign-in',
  },
  signUp: { path: '/sign-up', layout: 'sign', public: true, demoNotice: true, title: text('Sign up'), parent: '/' },
  confirmation: {
    path: '/confirmation',
    layout: 'sign',
    public: true,
    title: text('Confirm your email'),
    parent: '/sign-up',
  },
  recovery: { path: '/recovery', layout: 'sign', public: true, title: text('New password'), parent: '/sign-in' },
  /** Where an app asks for authorization; its request is in the query. */
  consent: { path: '/consent', layout: 'default', title: text('Connect an app'), parent: '/' },
  /** Shown once, after the first sign-in. */
  signUpForm: { path: '/sign-up/form', layout: 'sign', title: text('About you'), parent: '/' },
  /** The redirect address of identity providers; Google itself redirects to /sign-in, with a token in the hash. */
  authGoogle: {
    path: '/auth/google',
    layout: 'default',
    public: true,
    title: text('Log in with Google'),
    parent: '/sign-in',
  },
  authGithub: {
    path: '/auth/github',
    layout: 'default',
    public: true,
    title: text('Log in with GitHub'),
    parent: '/sign-in',
  },
  authOpenId: {
    path: '/auth/openid',
    layout: 'default',
    public: true,
    title: text('Log in'),
    parent: '/sign-in',
  },
  /** An app of its own: see `demoMain.tsx`. */
  demo: { path: '/stagi-demo', rest: true, layout: 'default', public: true, title: text('Demo'), parent: '/' },
  forbidden: { path: '/403', layout: 'default', public: true, footer: true, title: text('No access'), parent: '/' },
  docs: { path: '/docs', rest: true, layout: 'docs', public: true, footer: true, title: text('Docs'), parent: '/' },
  tutorials: {
    path: '/tutorials',
    rest: true,
    layout: 'docs',
    public: true,
    footer: true,
    title: text('Tutorials'),
    parent: '/',
  },
  blog: { path: '/blog', rest: true, layout: 'default', public: true, footer: true, title: text('Blog'), parent: '/' },
  terms: {
    path: '/terms-of-service',
    layout: 'default',
    public: true,
    footer: true,
    title: text('Terms Of Use'),
    parent: '/',
  },
  privacy: {
    path: '/privacy-policy',
    layout: 'default',
    public: true,
    footer: true,
    title: text('Privacy Policy'),
    parent: '/',
  },
  aiUse: {
    path: '/ai-use-policy',
    layout: 'default',
    public: true,
    footer: true,
    title: text('AI Use Policy'),
    parent: '/',
  },
  /** The gallery of the kit; only on localhost. */
  kit: { path: '/kit', tabs: true, layout: 'default', public: true, title: 'Kit', parent: null },
  models: {
    path: '/models',
    layout: 'default',
    public: true,
    footer: true,
    demoNotice: true,
    title: text('Models'),
    parent: '/',
  },
  model: {
    path: '/models/:name',
    layout: 'default',
    public: true,
    footer: true,
    demoNotice: true,
    title: text('Model'),
    parent: '/models',
  },
  contact: { path: '/contact', layout: 'default', public: true, footer: true, title: text('Contact Us'), parent: '/' },
  cloud: { path: '/cloud', layout: 'app', title: text('Cloud'), parent: null },
  marketplace: {
    path: '/cloud/marketplace',
    layout: 'app',
    permissions: RENTED,
    title: text('Hardware marketplace'),
    parent: '/cloud',
  },
  instances: {
    path: '/cloud/instances',
    layout: 'app',
    permissions: RENTED,
    title: text('Instances'),
    parent: '/cloud',
  },
  instance: {
    path: '/cloud/instances/:id',
    tabs: true,
    layout: 'app',
    permissions: RENTED,
    title: text('Instance'),
    parent: '/cloud/instances',
  },
  selfInstances: {
    path: '/cloud/self-instances',
    layout: 'app',
    permissions: OWN,
    title: text('Self-hosted'),
    parent: '/cloud',
  },
  selfInstance: {
    path: '/cloud/self-instances/:id',
    tabs: true,
    layout: 'app',
    permissions: OWN,
    title: text('Server'),
    parent: '/cloud/self-instances',
  },
  containers: {
    path: '/cloud/containers',
    layout: 'app',
    permissions: ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'],
    title: text('Containers'),
    parent: '/cloud',
  },
  container: {
    path: '/cloud/containers/:id',
    tabs: true,
    layout: 'app',
    permissions: ['PROJECT_MANAGEMENT', 'INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'],
    title: text('Container'),
    parent: '/cloud/containers',
  },
  storages: {
    path: '/cloud/storages',
    layout: 'app',
    permissions: RENTED,
    title: text('Storages'),
    parent: '/cloud',
  },
  storage: {
    path: '/cloud/storages/:id',
    tabs: true,
    layout: 'app',
    permissions: RENTED,
    title: text('Storage'),
    parent: '/cloud/storages',
  },
  projects: { path: '/projects', layout: 'app', permissions: PROJECTS, title: text('Projects'), parent: null },
  /** Leads to the code. */
  project: {
    path: '/projects/:id',
    layout: 'app',
    permissions: PROJECTS,
    title: text('Project'),
    parent: '/projects',
  },
  /** A folder of the code. Branch, commit and path follow, each as one segment. */
  projectTree: {
    path: '/projects/:id/code/tree',
    rest: true,
    layout: 'app',
    permissions: PROJECTS,
    title: text('Code'),
    parent: '/projects',
  },
  projectBlob: {
    path: '/projects/:id/blob',
    rest: true,
    layout: 'app',
    permissions: PROJECTS,
    title: text('File'),
    parent: '/projects',
  },
  projectCommit: {
    path: '/projects/:id/commit',
    rest: true,
    layout: 'app',
    permissions: PROJECTS,
    title: text('Commit'),
    parent: '/projects',
  },
  projectCommits: {
    path: '/projects/:id/commits',
    rest: true,
    layout: 'app',
    permissions: PROJECTS,
    title: text('History'),
    parent: '/projects',
  },
  projectInstances: {
    path: '/projects/:id/instances',
    layout: 'app',
    permissions: PROJECTS,
    title: text('Instances'),
    parent: '/projects',
  },
  projectContainers: {
    path: '/projects/:id/containers',
    layout: 'app',
    permissions: PROJECTS,
    title: text('Containers'),
    parent: '/projects',
  },
  projectTasks: {
    path: '/projects/:id/tasks',
    layout: 'app',
    permissions: TASKS,
    title: text('Tasks'),
    parent: '/projects',
  },
  /** The log of one run, named `run-1`, `run-2`, … */
  taskLogs: {
    path: '/projects/:id/tasks/logs/:taskId/:name',
    layout: 'app',
    permissions: TASKS,
    title: text('Log'),
    parent: '/projects',
  },
  newTask: {
    path: '/projects/tasks/create',
    layout: 'app',
    permissions: TASKS,
    title: text('Create a task'),
    parent: '/projects',
  },
  task: {
    path: '/projects/tasks/:id',
    tabs: true,
    layout: 'app',
    permissions: TASKS,
    title: text('Task'),
    parent: '/projects',
  },
  projectActivity: {
    path: '/projects/:id/activity',
    layout: 'app',
    permissions: PROJECTS,
    title: text('Activity'),
    parent: '/projects',
  },
  projectSettings: {
    path: '/projects/:id/settings',
    layout: 'app',
    permissions: PROJECTS,
    title: text('Settings'),
    parent: '/projects',
  },
  containerAuth: {
    path: '/container-auth/:slug',
    layout: 'default',
    title: text('Open a container'),
    parent: '/cloud/containers',
  },
  joinClient: {
    path: '/join-client/:code',
    layout: 'default',
    public: true,
    title: text('Join a workspace'),
    parent: '/',
  },
  expiredInvite: {
    path: '/expired-invite',
    layout: 'default',
    public: true,
    footer: true,
    title: text('Expired invitation'),
    parent: '/',
  },
  profile: { path: '/profile', layout: 'app', title: text('Profile'), parent: null },
  account: { path: '/profile/account', layout: 'app', title: text('Account'), parent: '/profile' },
  security: { path: '/profile/account/security', layout: 'app', title: text('Security'), parent: '/profile/account' },
  sessions: { path: '/profile/account/sessions', layout: 'app', title: text('Sessions'), parent: '/profile/account' },
  tokens: { path: '/profile/tokens', tabs: true, layout: 'app', title: text('API tokens'), parent: '/profile' },
  team: {
    path: '/profile/team',
    layout: 'app',
    permissions: ['INVITE_USERS_TO_CLIENT'],
    title: text('Team'),
    parent: '/profile',
  },
  invites: {
    path: '/profile/team/invites',
    layout: 'app',
    permissions: ['INVITE_USERS_TO_CLIENT'],
    title: text('Invites'),
    parent: '/profile/team',
  },
  audit: {
    path: '/profile/team/audit',
    layout: 'app',
    permissions: ['CLIENT_MANAGEMENT'],
    title: text('Audit log'),
    parent: '/profile/team',
  },
  balance: {
    path: '/profile/balance',
    layout: 'app',
    title: text('Transactions & Plans'),
    parent: '/profile',
  },
  usage: {
    path: '/profile/usage',
    layout: 'app',
    title: text('Usage'),
    parent: '/profile',
  },
  sshKeys: { path: '/profile/ssh', layout: 'app', title: text('SSH keys'), parent: '/profile' },
  admin: { path: '/admin', layout: 'app', permissions: STAFF, title: text('Administration'), parent: null },
  adminUsers: { path: '/admin/users', layout: 'app', permissions: STAFF, title: text('Users'), parent: '/admin' },
  adminSignUpLinks: {
    path: '/admin/sign-up-links',
    layout: 'app',
    permissions: STAFF,
    title: text('Sign-up links'),
    parent: '/admin',
  },
  adminPromoCodes: {
    path: '/admin/promo-codes',
    layout: 'app',
    permissions: STAFF,
    title: text('Promo codes'),
    parent: '/admin',
  },
  adminLedger: {
    path: '/admin/ledger',
    layout: 'app',
    permissions: STAFF,
    title: text('Ledger'),
    parent: '/admin',
    viewportWidth: TABLE_WIDTH,
  },
  adminWorkspaces: {
    path: '/admin/workspaces',
    layout: 'app',
    permissions: STAFF,
    title: text('Workspaces'),
    parent: '/admin',
  },
  adminStrays: { path: '/admin/strays', layout: 'app', permissions: STAFF, title: 'Strays', parent: '/admin' },
  adminProviders: { path: '/admin/providers', layout: 'app', permissions: STAFF, title: 'Clouds', parent: '/admin' },
  adminFeedback: { path: '/admin/feedback', layout: 'app', permissions: STAFF, title: 'Feedback', parent: '/admin' },
  adminContact: {
    path: '/admin/contact',
    layout: 'app',
    permissions: STAFF,
    title: text('Contact requests'),
    parent: '/admin',
  },
  adminModels: { path: '/admin/models', layout: 'app', permissions: STAFF, title: text('Models'), parent: '/admin' },
  adminAudit: {
    path: '/admin/audit',
    layout: 'app',
    permissions: STAFF,
    title: text('Audit log'),
    parent: '/admin',
    viewportWidth: TABLE_WIDTH,
  },
  adminSite: { path: '/admin/site', layout: 'app', permissions: STAFF, title: text('Site'), parent: '/admin' },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

/** Whether a page of this address exists; menus list only those that do. */
export function pageExists(path: string): boolean {
  return Object.values<Route>(ROUTES).some((route) => route.path === path);
}
