import type { Language } from '@stagi/contract/languages.ts';

/**
 * The pages that are drawn while the app is built, as a visitor without a session sees them, in each language; with
 * the module that holds the page, so that its code is fetched at once.
 */
export const DRAWN: Record<string, string> = {
  '/': 'src/features/home/HomePage.tsx',
  '/sign-in': 'src/features/auth/SignInPage.tsx',
  '/sign-up': 'src/features/auth/SignUpPage.tsx',
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
  return root.hasChildNodes() && window.location.search === '' && !visitor.signedIn && drawn === visitor.language;
}
