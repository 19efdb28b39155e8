import type { ContentSection } from '@stagi/contract/content.ts';
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
  [ROUTES.contact.path]: 'src/features/contact/ContactPage.tsx',
};

/** The same of each model of the checked-in catalogue. */
export const MODEL_MODULE = 'src/features/models/detail/ModelPage.tsx';

/** The same of each written page, by its section. */
export const WRITTEN_MODULES: Record<ContentSection, readonly string[]> = {
  docs: ['src/layouts/DocsLayout.tsx', 'src/contentPages.ts', 'src/features/content/DocsPage.tsx'],
  tutorials: ['src/layouts/DocsLayout.tsx', 'src/contentPages.ts', 'src/features/content/TutorialsPage.tsx'],
  blog: ['src/contentPages.ts', 'src/features/content/BlogPage.tsx'],
  legal: ['src/contentPages.ts', 'src/features/content/LegalPage.tsx'],
};

/** What a prerendered page was drawn from. It stands in the page as JSON. */
export interface PrerenderedAnswers {
  /** The page's own title, where it is not that of its route. */
  title?: string;
  /** The `id` that an address may name, and then what it asks is the same: a model's repository, a post's number. */
  about?: string;
  answers: readonly { keys: readonly Question[]; output: unknown }[];
}

type Question = readonly [path: string, input: unknown];

export interface PrerenderedPage {
  /** With the `<title>` in front. */
  markup: string;
  description: string;
}

/** What a page is about: a model, or a text with its own description. */
export interface PageSubject {
  model?: ModelCard;
  description?: string;
}

/** What `prerenderEntry.tsx` exports. */
export interface Prerenderer {
  /** What a page asks before it can show anything: paths of calls and their inputs. */
  questionsOf(address: string, language?: Language): Promise<Question[]>;
  /** Renders a page as a visitor without a session sees it. Throws when the page does. */
  prerenderPage(
    path: string,
    language: Language,
    answers: PrerenderedAnswers,
    about: PageSubject,
  ): Promise<PrerenderedPage>;
}

/** In prerendered pages, in place of the site's origin, which the server writes when it sends the page. */
export const PRERENDERED_ORIGIN = 'https://origin.invalid';

/** The element of a prerendered page with the answers that it was drawn from. */
export const ANSWERS_ID = 'answers';

const APP = 'src/layouts/AppLayout.tsx';

/**
 * What signed-in people load beside a prerendered page, which they do not see. `public/boot.js` begins with it, as the
 * server does not know who is signed in.
 */
export const HEADER_OF_USERS = 'src/layouts/header/SignedInArea.tsx';

/** The code of the footer, which comes beside that of the page. */
export const FOOTER = 'src/layouts/Footer.tsx';

/** The modules of other pages, by route; `*` is the not-found page. The server preloads them all at once, so that none waits for another. */
export const ROUTE_MODULES: Record<string, readonly string[]> = {
  [ROUTES.marketplace.path]: [APP, 'src/features/marketplace/MarketplacePage.tsx'],
  [ROUTES.instances.path]: [APP, 'src/features/instances/InstancesPage.tsx'],
  [ROUTES.instance.path]: [APP, 'src/features/instances/InstancePage.tsx'],
  [ROUTES.selfInstances.path]: [APP, 'src/features/instances/SelfHostedPage.tsx'],
  [ROUTES.selfInstance.path]: [APP, 'src/features/instances/SelfHostedInstancePage.tsx'],
  [ROUTES.containers.path]: [APP, 'src/features/containers/ContainersPage.tsx'],
  [ROUTES.container.path]: [APP, 'src/features/containers/ContainerPage.tsx'],
  '*': ['src/errorPages/NotFound.tsx'],
  [ROUTES.forbidden.path]: ['src/errorPages/Forbidden.tsx'],
  [ROUTES.models.path]: ['src/features/models/list/ModelsPage.tsx'],
  [ROUTES.contact.path]: ['src/features/contact/ContactPage.tsx'],
  [ROUTES.consent.path]: ['src/features/apps/ConsentPage.tsx'],
  [ROUTES.expiredInvite.path]: ['src/features/invitation/ExpiredInvitePage.tsx'],
  [ROUTES.authGoogle.path]: ['src/features/auth/GoogleReturnPage.tsx'],
  [ROUTES.authGithub.path]: ['src/features/auth/GithubReturnPage.tsx'],
  [ROUTES.authOpenId.path]: ['src/features/auth/OpenIdReturnPage.tsx'],
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
  const query = new URLSearchParams(search);
  query.delete('lang');
  if (query.size === 0) return true;
  if (answers?.about === undefined) return false;
  const id = query.get('id');
  return id === null || id === answers.about;
}

/**
 * Who does not see the prerendered page sees the placeholder beside it, like a page that was not prerendered. It takes
 * the page's place until the app is rendered.
 */
export function showPlaceholder(root: HTMLElement): void {
  const placeholder = document.querySelector('.placeholder');
  if (placeholder) root.replaceChildren(placeholder);
  delete document.documentElement.dataset.hidePrerendered;
}
