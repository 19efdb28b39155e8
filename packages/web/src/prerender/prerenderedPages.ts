import type { Language } from '@stagi/contract/languages.ts';
import type { ModelCard } from '@stagi/contract/models.ts';
import { ROUTES } from '@stagi/contract/routes.ts';

/**
 * The pages that the build prerenders in each language, as a visitor without a session sees them. Each names the module
 * of the page, so that the markup preloads its code.
 */
export const PRERENDERED_PAGES: Record<string, string> = {
  '/': 'src/features/home/HomePage.tsx',
  '/sign-in': 'src/features/auth/SignInPage.tsx',
  '/sign-up': 'src/features/auth/SignUpPage.tsx',
  [ROUTES.models.path]: 'src/features/models/list/ModelsPage.tsx',
};

/** The same of each model of the checked-in catalogue. */
export const MODEL_MODULE = 'src/features/models/detail/ModelPage.tsx';

/** What a prerendered page was drawn from. It stands in the page as JSON. */
export interface PrerenderedAnswers {
  /** The page's own title, where it is not that of its route. */
  title?: string;
  /** The repository of the model that the page is about: an address may name it, and then what it asks is the same. */
  model?: string;
  answers: readonly { keys: readonly Question[]; output: unknown }[];
}

type Question = readonly [path: string, input: unknown];

export interface PrerenderedPage {
  /** With the `<title>` in front. */
  markup: string;
  description: string;
}

/** What `prerenderEntry.tsx` exports. */
export interface Prerenderer {
  /** What a page asks before it can show anything: paths of calls and their inputs. */
  questionsOf(address: string): Promise<Question[]>;
  /** Renders a page as a visitor without a session sees it. Throws when the page does. `model` is what it is about. */
  prerenderPage(
    path: string,
    language: Language,
    answers: PrerenderedAnswers,
    model?: ModelCard,
  ): Promise<PrerenderedPage>;
}

/** The element of a prerendered page with the answers that it was drawn from. */
export const ANSWERS_ID = 'answers';

const APP = 'src/layouts/AppLayout.tsx';

/** The modules of other pages, by route. The server preloads them all at once, so that none waits for another. */
export const ROUTE_MODULES: Record<string, readonly string[]> = {
  [ROUTES.marketplace.path]: [APP, 'src/features/marketplace/MarketplacePage.tsx'],
  [ROUTES.instances.path]: [APP, 'src/features/instances/InstancesPage.tsx'],
  [ROUTES.instance.path]: [APP, 'src/features/instances/InstancePage.tsx'],
  [ROUTES.selfInstances.path]: [APP, 'src/features/instances/SelfHostedPage.tsx'],
  [ROUTES.selfInstance.path]: [APP, 'src/features/instances/SelfHostedInstancePage.tsx'],
  [ROUTES.containers.path]: [APP, 'src/features/containers/ContainersPage.tsx'],
  [ROUTES.container.path]: [APP, 'src/features/containers/ContainerPage.tsx'],
  [ROUTES.models.path]: ['src/features/models/list/ModelsPage.tsx'],
  [ROUTES.consent.path]: ['src/features/apps/ConsentPage.tsx'],
  [ROUTES.expiredInvite.path]: ['src/features/invitation/JoinClientPage.tsx'],
  [ROUTES.authGoogle.path]: ['src/features/auth/GoogleReturnPage.tsx'],
  [ROUTES.authGithub.path]: ['src/features/auth/GithubReturnPage.tsx'],
  [ROUTES.signUpForm.path]: ['src/features/auth/SignUpFormPage.tsx'],
  [ROUTES.account.path]: [APP, 'src/features/account/AccountPage.tsx'],
  [ROUTES.security.path]: [APP, 'src/features/account/security/SecurityPage.tsx'],
  [ROUTES.sessions.path]: [APP, 'src/features/account/SessionsPage.tsx'],
  [ROUTES.sshKeys.path]: [APP, 'src/features/sshKeys/SshKeysPage.tsx'],
};

/** The file of a prerendered page below the built app's folder. */
export const prerenderedFile = (language: Language, path: string) =>
  `prerendered/${language}${path === '/' ? '/home' : path}.html`;

interface PageVisit {
  language: Language;
  signedIn: boolean;
  /** Whether the query of the address changes nothing on the prerendered page. */
  isSamePage: boolean;
}

/** Whether the prerendered markup is what this visitor would see, so that React can hydrate it. */
export function canHydrate(root: HTMLElement, visit: PageVisit): boolean {
  const { prerendered } = root.ownerDocument.documentElement.dataset;
  // A hash with a value is a message to the app, not a place on the page.
  const isBare = visit.isSamePage && !window.location.hash.includes('=');
  return root.hasChildNodes() && isBare && !visit.signedIn && prerendered === visit.language;
}

/** Whether a page that was prerendered without a query is the same with this one. */
export function isSamePage(answers: PrerenderedAnswers | null, search: string): boolean {
  if (search === '') return true;
  if (answers?.model === undefined) return false;
  const id = new URLSearchParams(search).get('id');
  return id === null || id === answers.model;
}

/** Whether the server sent `index.html` itself, with its placeholder instead of a page. */
export const hasPlaceholder = (root: HTMLElement): boolean => root.querySelector(':scope > .placeholder') !== null;
