import { api } from '@stagi/contract/api.ts';
import type { Call, InputOf } from '@stagi/contract/call.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { q } from './api/query.ts';
import { modelRefOf } from './features/models/modelRef.ts';
import { currentLanguage } from './i18n/i18n.ts';
import { listAddress } from './lists/listAddress.ts';
import type { FirstRead, FirstReads, Visit } from './navigation/pageHandle.ts';
import { idIn } from './paths.ts';
import type { Sort } from './ui/table/tableTypes.ts';

/** What each page reads first, by the address that leads to it: the same questions that the page will ask. */
export const firstReads = {
  models: async ({ search }) => {
    const { modelsInput, NEWEST } = await import('./features/models/list/modelsInput.ts');
    return [read(api.models.list, modelsInput(listAddress(search, NEWEST))), read(api.models.facets, {})];
  },
  model: ({ params, search }) => [read(api.models.view, modelRefOf(params.name, search))],
  docs: (visit) => [read(api.content.list, { section: 'docs', language: currentLanguage() }), ...ofWritten(visit)],
  tutorials: (visit) => [
    read(api.content.list, { section: 'tutorials', language: currentLanguage() }),
    ...ofWritten(visit, ROUTES.tutorials.path),
  ],
  blog: (visit) =>
    visit.params['*'] ? ofWritten(visit) : [read(api.content.list, { section: 'blog', language: currentLanguage() })],
  written: (visit) => ofWritten(visit),
  marketplace: async ({ search }) => {
    const { CHEAPEST, offersInput } = await import('./features/marketplace/offersInput.ts');
    return [read(api.hardware.offers, offersInput(listAddress(search, CHEAPEST)))];
  },
  instances: ({ search }) => [read(api.instances.list, listInput(search))],
  instance: (visit) => {
    const id = idOf(visit);
    if (id === null) return [];
    const whole = [read(api.instances.view, { id })];
    switch (visit.params.tab) {
      case 'containers':
        return [...whole, containersOf(id, visit)];
      case 'images':
        return [...whole, read(api.serverImages.list, { instanceRef: { id } })];
      case 'activities':
        return [...whole, ...activities(api.instances.activities, id, visit)];
      case 'access':
        return [...whole, read(api.instances.sshKeys, { id, ...listInput(visit.search) })];
      default:
        return whole;
    }
  },
  selfInstances: ({ search }) => [read(api.selfHosted.list, listInput(search))],
  selfInstance: (visit) => {
    const id = idOf(visit);
    if (id === null) return [];
    const whole = [read(api.selfHosted.view, { id })];
    switch (visit.params.tab) {
      case 'containers':
        return [...whole, containersOf(id, visit)];
      case 'images':
        return [...whole, read(api.serverImages.list, { instanceRef: { id } })];
      case 'activities':
        return [...whole, ...activities(api.selfHosted.activities, id, visit)];
      default:
        return whole;
    }
  },
  containers: ({ search }) => [read(api.containers.list, listInput(search))],
  container: (visit) => {
    const id = idOf(visit);
    return id === null ? [] : [read(api.containers.view, { id })];
  },
  storages: async ({ search }) => {
    const { storagesInput } = await import('./features/storages/listInput.ts');
    return [read(api.storages.list, storagesInput(listAddress(search)))];
  },
  storage: (visit) => {
    const id = idOf(visit);
    if (id === null) return [];
    const whole = [read(api.storages.view, { id })];
    return visit.params.tab === 'keys'
      ? [...whole, read(api.storages.keys, { id, ...listInput(visit.search) })]
      : whole;
  },
  projects: ({ search }) => [read(api.projects.list, listInput(search))],
  project: (visit) => ofProject(visit),
  projectTree: (visit) => ofCode('tree', visit),
  projectBlob: (visit) => ofCode('blob', visit),
  projectCommit: (visit) => ofCode('commit', visit),
  projectCommits: (visit) => ofCode('commits', visit),
  projectInstances: (visit) =>
    ofProject(visit, (id) =>
      read(api.projects.instances, { projectRef: { id }, ...listInput(visit.search, LATEST_ATTACHED) }),
    ),
  projectContainers: (visit) =>
    ofProject(visit, (id) => read(api.containers.list, { projectRef: { id }, ...listInput(visit.search) })),
  projectTasks: async (visit) => {
    const { tasksInput } = await import('./features/tasks/list/listInput.ts');
    return ofProject(visit, (id) => read(api.tasks.list, tasksInput(listAddress(visit.search), id)));
  },
  task: (visit) => {
    const id = idOf(visit);
    return id === null ? [] : [read(api.tasks.view, { id })];
  },
  taskLogs: ({ params }) => {
    const id = idIn(params.taskId);
    return id === null ? [] : [read(api.tasks.view, { id })];
  },
  projectActivity: (visit) =>
    ofProject(visit, (id) => read(api.projects.activity, { projectRef: { id }, ...listInput(visit.search, LATEST) })),
  projectSettings: (visit) => ofProject(visit, () => read(api.projects.form, {})),
  tokens: ({ params, search }) => [
    read(api.apiTokens.list, { ...listInput(search), archived: params.tab === 'archive' }),
  ],
  team: async ({ search }) => {
    const { roleListInput } = await import('./features/team/listInputs.ts');
    return [read(api.clients.members, roleListInput(listAddress(search)))];
  },
  balance: async ({ search, permissions }) => {
    // A stretch of time ends now: what is read of it ahead would not be what the page asks for.
    if (search.has('range') || !permissions.includes('BILLING')) return [];
    const { transactionsInput } = await import('./features/billing/listInput.ts');
    return [read(api.transactions.list, transactionsInput(listAddress(search)))];
  },
  invites: async ({ search }) => {
    const { roleListInput } = await import('./features/team/listInputs.ts');
    return [read(api.invites.list, roleListInput(listAddress(search)))];
  },
  usage: async ({ search, permissions }) => {
    if (search.has('range') || !permissions.includes('BILLING')) return [];
    const { LATEST_START_FIRST, usageInput } = await import('./features/usage/listInput.ts');
    return [read(api.usage.list, usageInput(listAddress(search, LATEST_START_FIRST)))];
  },
  sshKeys: ({ search }) => [read(api.sshKeys.list, listInput(search))],
  adminSignUpLinks: ({ search }) => [read(api.signUpLinks.list, listInput(search))],
  adminPromoCodes: ({ search }) => [read(api.promoCodes.list, listInput(search))],
  adminLedger: ({ search }) => [read(api.ledger.list, listInput(search))],
  adminUsers: async ({ search }) => {
    const { usersInput } = await import('./features/admin/listInputs.ts');
    return [read(api.adminUsers.list, usersInput(listAddress(search)))];
  },
  adminWorkspaces: async ({ search }) => {
    const { workspacesInput } = await import('./features/admin/listInputs.ts');
    return [read(api.adminClients.list, workspacesInput(listAddress(search)))];
  },
  adminStrays: ({ search }) => [read(api.strays.list, listInput(search))],
  adminProviders: ({ search }) => [read(api.providers.list, listInput(search))],
  adminFeedback: async ({ search }) => {
    const { feedbackInput } = await import('./features/admin/listInputs.ts');
    return [read(api.feedback.list, feedbackInput(listAddress(search)))];
  },
  adminContact: async ({ search }) => {
    const { contactInput } = await import('./features/admin/listInputs.ts');
    return [read(api.contact.list, contactInput(listAddress(search)))];
  },
  adminModels: async ({ search }) => {
    const { entriesInput } = await import('./features/models/admin/entriesInput.ts');
    return [read(api.adminModels.list, entriesInput(listAddress(search)))];
  },
} satisfies Record<string, FirstReads>;

export type ReadsName = keyof typeof firstReads;

const read = <C extends Call>(of: C, input: InputOf<C>): FirstRead => q(of, input, { quiet: true });

const listInput = (search: URLSearchParams, sort?: Sort) => ({
  entityFilterRequest: listAddress(search, sort).request,
});

/** A written page, unless the address is of a list of them. */
function ofWritten({ pathname }: Visit, list?: string): FirstRead[] {
  const path = pathname.replace(/\/$/, '');
  return path === list ? [] : [read(api.content.page, { path, language: currentLanguage() })];
}

const LATEST: Sort = { field: 'at', direction: 'desc' };
const LATEST_ATTACHED: Sort = { field: 'attachedAt', direction: 'desc' };
/** A project, and what one of its tabs reads besides. */
function ofProject(visit: Visit, more?: (id: number) => FirstRead): FirstRead[] {
  const id = idOf(visit);
  if (id === null) return [];
  const whole = read(api.projects.view, { id });
  return more ? [whole, more(id)] : [whole];
}

async function ofCode(screen: 'tree' | 'blob' | 'commit' | 'commits', visit: Visit): Promise<FirstRead[]> {
  const id = idOf(visit);
  if (id === null) return [];
  const { codeReads } = await import('./features/projectCode/codeReads.ts');
  return [read(api.projects.view, { id }), ...codeReads(screen, id, visit)];
}

const containersOf = (id: number, { search }: Visit): FirstRead =>
  read(api.containers.list, { instanceRef: { id }, ...listInput(search) });

/** A stretch of time that the address names ends now: what is read of it ahead would not be what the page asks for. */
function activities(
  of: typeof api.instances.activities | typeof api.selfHosted.activities,
  id: number,
  { search }: Visit,
): FirstRead[] {
  if (search.has('range')) return [];
  const { request } = listAddress(search, LATEST);
  return [read(of, { id, entityFilterRequest: request })];
}

const idOf = ({ params }: Visit): number | null => idIn(params.id);
