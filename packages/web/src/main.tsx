import { startTransition } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { createBrowserRouter, matchRoutes } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { App } from './App.tsx';
import { clearAnalyticsPerson, sendPendingEvents, trackFirstVisit } from './api/analytics.ts';
import { setFailureHandlers } from './api/client.ts';
import { failureTitle, refusalText } from './api/messages.ts';
import { queryClient } from './api/query.ts';
import { onSessionChange, session, watchOtherTabs } from './api/session.ts';
import { leaveRemovedWorkspace, prefetchUser } from './api/user.ts';
import { currentLanguage, startTranslation, t } from './i18n/i18n.ts';
import { loadRoute, prefetch, watchLinksToPrefetch } from './navigation/prefetch.ts';
import { paths } from './paths.ts';
import { takePrerenderedAnswers } from './prerender/prerenderedAnswers.ts';
import { canHydrate, isSamePage, showPlaceholder } from './prerender/prerenderedPages.ts';
import { routes } from './routes.tsx';
import { showKeptToast, toast } from './ui/toasts.ts';

await startTranslation();
watchOtherTabs();
sendPendingEvents();
trackFirstVisit();
// Wherever the session ended, nothing that was read with it may be seen in the next.
onSessionChange(() => {
  if (session.get() !== null) return;
  queryClient.clear();
  clearAnalyticsPerson();
});

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
setFailureHandlers({
  signedOut: session.end,
  forbidden: () => void router.navigate(paths.forbidden()),
  notFound: () => void router.navigate(paths.notFound()),
  stepUp: () =>
    import('./features/auth/StepUpDialog.tsx').then(
      ({ askStepUp }) => askStepUp(),
      (cause: unknown) => {
        console.warn('The dialog could not be fetched', cause);
        toast.error(t('This could not be loaded'));
        return false;
      },
    ),
  workspaceGone: (quiet) => leaveRemovedWorkspace({ quiet }),
  message: (text, body, retryAfter, path) => toast.error(refusalText(text, body, retryAfter), failureTitle(path)),
});
const profile = prefetchUser();

const answers = takePrerenderedAnswers();
const hydrates = canHydrate(root, {
  language: currentLanguage(),
  signedIn: session.get() !== null,
  isSamePage: isSamePage(answers, window.location.search),
});
if (!hydrates) showPlaceholder(root);
await yieldToMain();
// Prerendered markup stays until it is hydrated, the placeholder until the page replaces it.
await preloadPage();
await yieldToMain();
// Until here boot.js watches for chunks that fail to load.
document.documentElement.dataset.started = '';
sessionStorage.removeItem('bootTries');

const router = createBrowserRouter(routes);
watchLinksToPrefetch(router.routes);
await yieldToMain();

// The page's data loads beside its code. A prerendered page has brought its own.
if (!hydrates) void profile.then(() => prefetch(window.location.href));

const app = (
  <App>
    <RouterProvider router={router} />
  </App>
);
// A transition renders in slices, so that key presses are handled meanwhile.
startTransition(() => {
  if (hydrates) hydrateRoot(root, app, { onRecoverableError: (cause) => console.warn('Hydration failed', cause) });
  else createRoot(root).render(app);
});
showKeptToast();

/** Ends the current task on a prerendered page, which is in use already: a scroll or a press is handled between the steps of the start. */
function yieldToMain(): Promise<void> | undefined {
  return hydrates ? new Promise((resolve) => setTimeout(resolve)) : undefined;
}

/** The router renders nothing at first unless the code of its page is loaded. */
async function preloadPage(): Promise<void> {
  for (const { route } of matchRoutes(routes, window.location) ?? []) await loadRoute(route);
}
