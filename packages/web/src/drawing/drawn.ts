import type { Language } from '@stagi/contract/languages.ts';
import { ROUTES } from '@stagi/contract/routes.ts';

/**
 * The pages that are drawn while the app is built, as a visitor without a session sees them, in each language; with
 * the module that holds the page, so that its code is fetched at once.
 */
export const DRAWN: Record<string, string> = {
  '/': 'src/features/home/HomePage.tsx',
  '/sign-in': 'src/features/auth/SignInPage.tsx',
  '/sign-up': 'src/features/auth/SignUpPage.tsx',
};

const APP = 'src/layouts/AppLayout.tsx';

/** Of the other pages, by their routes, the modules that hold them: the page names them, so that none waits for another. */
export const HELD_BY: Record<string, readonly string[]> = {
  [ROUTES.marketplace.path]: [APP, 'src/features/marketplace/MarketplacePage.tsx'],
  [ROUTES.instances.path]: [APP, 'src/features/instances/InstancesPage.tsx'],
  [ROUTES.instance.path]: [APP, 'src/features/instances/InstancePage.tsx'],
  [ROUTES.selfInstances.path]: [APP, 'src/features/selfHosted/SelfHostedPage.tsx'],
  [ROUTES.selfInstance.path]: [APP, 'src/features/selfHosted/SelfHostedInstancePage.tsx'],
  [ROUTES.containers.path]: [APP, 'src/features/containers/ContainersPage.tsx'],
  [ROUTES.container.path]: [APP, 'src/features/containers/ContainerPage.tsx'],
  [ROUTES.consent.path]: ['src/features/apps/ConsentPage.tsx'],
  [ROUTES.expiredInvite.path]: ['src/features/joining/JoinClientPage.tsx'],
  [ROUTES.authGoogle.path]: ['src/features/auth/GoogleReturnPage.tsx'],
  [ROUTES.authGithub.path]: ['src/features/auth/GithubReturnPage.tsx'],
  [ROUTES.signUpForm.path]: ['src/features/auth/SignUpFormPage.tsx'],
  [ROUTES.account.path]: [APP, 'src/features/account/AccountPage.tsx'],
  [ROUTES.security.path]: [APP, 'src/features/account/security/SecurityPage.tsx'],
  [ROUTES.sessions.path]: [APP, 'src/features/account/SessionsPage.tsx'],
  [ROUTES.sshKeys.path]: [APP, 'src/features/sshKeys/SshKeysPage.tsx'],
};

/** The file of a drawn page below the built app's folder. */
export const drawnFile = (language: Language, path: string) => `drawn/${language}${path === '/' ? '/home' : path}.html`;

interface Visitor {
  language: Language;
  signedIn: boolean;
}

/** Whether what the server sent is what this visitor would see, so that it can stay. */
export function isDrawnFor(root: HTMLElement, visitor: Visitor): boolean {
  const { drawn } = root.ownerDocument.documentElement.dataset;
  // A hash with a value is a message to the app, not a place on the page.
  const isBare = window.location.search === '' && !window.location.hash.includes('=');
  return root.hasChildNodes() && isBare && !visitor.signedIn && drawn === visitor.language;
}

/** Whether the server sent the page of all other addresses: a frame of what every page has. */
export const hasFrame = (root: HTMLElement): boolean => root.querySelector(':scope > .frame') !== null;
