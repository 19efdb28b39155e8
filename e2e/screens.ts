import { ROUTES, type Route, type RouteName } from '@stagi/contract/routes.ts';
import { STORY_APP_ASKS } from './registeredApp.ts';

/** Who looks at a screen: some are only for those who are not signed in, some only for operators. */
export const VIEWERS = ['visitor', 'member', 'operator'] as const;
export type Viewer = (typeof VIEWERS)[number];

/** The things that addresses of screens name. */
export interface Ids {
  instance: number;
  selfInstance: number;
  container: number;
  storage: number;
  project: number;
  emptyProject: number;
  task: number;
  /** The commit of the project, and the object of its README. */
  commit: string;
  readme: string;
  /** The code of a join link that nobody has used. */
  joinClient: string;
  containerAuth: string;
}

/** Those that only lead on, and the gallery and the demo, which have stories of their own. */
const NOT_SCREENS: readonly RouteName[] = ['cloud', 'profile', 'admin', 'kit', 'demo', 'signUpForm', 'project'];

/** The query without which a screen leads on to another. */
const QUERIES: Partial<Record<RouteName, string>> = { confirmation: '?email=ada%40example.com' };

/** Tabs, dialogs and forms with an address of their own. */
const MORE: Partial<Record<RouteName, readonly string[]>> = {
  instance: ['/containers', '/images', '/terminal', '/metrics', '/activities', '/access'],
  selfInstance: ['/containers', '/images', '/terminal', '/metrics', '/activities'],
  selfInstances: ['?new=1'],
  container: ['/logs', '/terminal', '/files', '/metrics', '/edit'],
  tokens: ['/archive'],
  consent: [`?${STORY_APP_ASKS}`],
  containers: ['?new=1'],
  storages: ['?new=1'],
  storage: ['/objects', '/keys'],
  task: ['/output', '/metrics'],
  newTask: ['?schedule=new'],
  projects: ['?new=1'],
  contact: ['?topic=demo'],
};

/** Dialogs over a screen of visitors that only members can open. */
const OF_MEMBERS: readonly string[] = ['/models/llama-3.1-8b-instruct?deploy=1'];

/** The routes that a viewer's screens stand for. */
export function routesOf(viewer: Viewer): RouteName[] {
  return (Object.keys(ROUTES) as RouteName[]).filter(
    (name) => !NOT_SCREENS.includes(name) && viewerOf(ROUTES[name]) === viewer,
  );
}

/** The address of every screen, tab, dialog and form with an address that a viewer sees. */
export function screensOf(viewer: Viewer, ids: Ids): string[] {
  const screens = routesOf(viewer).flatMap((name) => {
    const path = addressOf(name, ids);
    return [QUERIES[name] ?? '', ...(MORE[name] ?? [])].map((more) => path + more);
  });
  if (viewer === 'visitor') return [...screens, '/no-such-page'];
  return viewer === 'member' ? [...screens, `/projects/${ids.emptyProject}/code/tree`, ...OF_MEMBERS] : screens;
}

function viewerOf(route: Route): Viewer {
  if (route.public) return 'visitor';
  return route.permissions?.includes('EMPLOYEE') ? 'operator' : 'member';
}

function addressOf(name: RouteName, ids: Ids): string {
  const { path: pattern } = ROUTES[name];
  const path = pattern.startsWith(`${ROUTES.project.path}/`)
    ? pattern
        .replace(':id', String(ids.project))
        .replace(':taskId/:name', `${ids.task}/run-1`)
        .concat(ofCode(ids)[name] ?? '')
    : pattern.replace(':name', 'llama-3.1-8b-instruct').replace(/:(?:id|code|slug)$/, String(ids[name as keyof Ids]));
  if (path.includes('undefined') || path.includes(':')) throw new Error(`screens.ts: ${name} needs an id in Ids`);
  return path;
}

/** The ends of addresses of code, which name more than their project. */
const ofCode = ({ commit, readme }: Ids): Partial<Record<string, string>> => ({
  projectBlob: `/main/README.md/${readme}`,
  projectCommit: `/main/${commit}`,
});
