import { type AuthorizationRequest, authorizationRequestQuery } from '@stagi/contract/authorizationRequest.ts';

export type InstanceTab = 'overview' | 'containers' | 'images' | 'terminal' | 'metrics' | 'activities' | 'access';
export type SelfInstanceTab = 'overview' | 'containers' | 'images' | 'terminal' | 'metrics' | 'activities';
export type TokensTab = 'active' | 'archive';
export type ContainerTab = 'overview' | 'logs' | 'edit' | 'terminal' | 'files' | 'metrics';
export type StorageTab = 'overview' | 'objects' | 'keys';
export type ProjectTab = 'instances' | 'containers' | 'tasks' | 'activity' | 'settings';
export type TaskTab = 'overview' | 'output' | 'metrics';

interface Server {
  id: number;
  kind: 'rented' | 'self-hosted';
}

/** Every address of the app. The first tab of a page has the page's own address. */
export const paths = {
  home: () => '/',
  signIn: (returnUrl?: string) => withQuery('/sign-in', { returnUrl }),
  secondFactor: (returnUrl?: string) => withQuery('/sign-in/second-factor', { returnUrl }),
  /** `invite`: the code of an invitation, where not everybody may sign up. */
  signUp: (returnUrl?: string, invite?: string) => withQuery('/sign-up', { returnUrl, invite }),
  signUpForm: (returnUrl?: string) => withQuery('/sign-up/form', { returnUrl }),
  confirmation: (email: string, returnUrl?: string) => withQuery('/confirmation', { email, returnUrl }),
  recovery: (returnUrl?: string) => withQuery('/recovery', { returnUrl }),
  consent: (handOff: AuthorizationRequest) => `/consent?${authorizationRequestQuery(handOff)}`,
  joinClient: (code: string) => `/join-client/${encodeURIComponent(code)}`,
  expiredInvite: () => '/expired-invite',
  contact: () => '/contact',
  requestDemo: () => '/contact?topic=demo',
  demo: () => '/stagi-demo',
  forbidden: () => '/403',
  notFound: () => '/404',
  models: () => '/models',
  /** A model by the name of its address; its repository on the hub tells it from another one of that name. */
  model: (name: string, id?: string) => withQuery(`/models/${encodeURIComponent(name)}`, { id }),
  /** The form that deploys it, with what the page's address has chosen. */
  deployModel: (name: string, chosen: URLSearchParams = new URLSearchParams()) =>
    withQuery(`/models/${encodeURIComponent(name)}`, { ...Object.fromEntries(chosen), deploy: '1' }),
  cloud: () => '/cloud',
  marketplace: () => '/cloud/marketplace',
  /** The form that rents an offer. */
  offer: (offerId: string) => withQuery('/cloud/marketplace', { offer: offerId }),
  instances: () => '/cloud/instances',
  instance: (id: number, tab: InstanceTab = 'overview') => withTab(`/cloud/instances/${id}`, tab),
  selfInstances: () => '/cloud/self-instances',
  selfInstance: (id: number, tab: SelfInstanceTab = 'overview') => withTab(`/cloud/self-instances/${id}`, tab),
  /** A server of either kind. */
  server: ({ id, kind }: Server, tab: SelfInstanceTab = 'overview'): string =>
    kind === 'rented' ? paths.instance(id, tab) : paths.selfInstance(id, tab),
  joinServer: () => '/cloud/self-instances?new=1',
  containers: () => '/cloud/containers',
  newContainer: ({ serverId, projectId }: { serverId?: number; projectId?: number } = {}) =>
    withQuery('/cloud/containers', { new: '1', server: serverId?.toString(), project: projectId?.toString() }),
  /** The form of a new container, filled in with the values of another one. */
  cloneContainer: (id: number) => withQuery('/cloud/containers', { new: '1', clone: String(id) }),
  container: (id: number, tab: ContainerTab = 'overview') => withTab(`/cloud/containers/${id}`, tab),
  storages: () => '/cloud/storages',
  newStorage: () => '/cloud/storages?new=1',
  storage: (id: number, tab: StorageTab = 'overview') => withTab(`/cloud/storages/${id}`, tab),
  projects: () => '/projects',
  newProject: () => '/projects?new=1',
  /** Its code, unless a tab is named. The addresses within the code are made by `codePaths`, which is loaded with them. */
  project: (id: number, tab?: ProjectTab) => `/projects/${id}/${tab ?? 'code/tree'}`,
  /** A commit, seen from a branch or tag where one is known. */
  commit: (projectId: number, { sha, ref }: { sha: string; ref: string | null }) =>
    `/projects/${projectId}/commit/${ref === null ? sha : `${encodeURIComponent(ref)}/${sha}`}`,
  newTask: (query: { project?: number; clone?: number; commit?: string; schedule?: 'new' | number } = {}) =>
    withQuery('/projects/tasks/create', {
      project: query.project?.toString(),
      clone: query.clone?.toString(),
      commit: query.commit,
      schedule: query.schedule?.toString(),
    }),
  task: (id: number, tab: TaskTab = 'overview') => withTab(`/projects/tasks/${id}`, tab),
  /** The log of the run of a number. */
  taskLog: (projectId: number, taskId: number, run: number) => `/projects/${projectId}/tasks/logs/${taskId}/run-${run}`,
  profile: () => '/profile',
  account: () => '/profile/account',
  security: () => '/profile/account/security',
  sessions: () => '/profile/account/sessions',
  tokens: (tab: TokensTab = 'active') => (tab === 'active' ? '/profile/tokens' : `/profile/tokens/${tab}`),
  balance: () => '/profile/balance',
  /** Of the servers whose name or Unique ID holds a text. */
  usage: (search?: string) => withQuery('/profile/usage', { q: search }),
  sshKeys: () => '/profile/ssh',
  team: () => '/profile/team',
  invites: () => '/profile/team/invites',
  newWorkspace: () => '/profile/account?workspace=new',
  audit: () => '/profile/team/audit',
  adminUsers: () => '/admin/users',
  adminUser: (id: number) => `/admin/users?user=${id}`,
  adminStrays: () => '/admin/strays',
  adminAudit: (workspaceId?: number) => withQuery('/admin/audit', { workspace: workspaceId?.toString() }),
  adminWorkspaces: () => '/admin/workspaces',
  adminWorkspace: (id: number) => `/admin/workspaces?workspace=${id}`,
  adminContact: (id: number) => `/admin/contact?contact=${id}`,
  mailHelp: () => '/docs/operating/mail#when-mails-do-not-arrive',
  kit: (section: string) => `/kit/${section}`,
};

/** The id that a word of an address is; null where it is none. */
export const idIn = (word: string | null | undefined): number | null =>
  /^[1-9]\d{0,14}$/.test(word ?? '') ? Number(word) : null;

function withTab(path: string, tab: string): string {
  return tab === 'overview' ? path : `${path}/${tab}`;
}

function withQuery(path: string, query: Record<string, string | undefined>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) params.set(name, value);
  return params.size === 0 ? path : `${path}?${params}`;
}
